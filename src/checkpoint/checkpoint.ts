import type { Listings } from '../core/model/listings.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { BlockCheckpoint } from './block-checkpoint.ts'
import type { WrittenRange } from './checkpoint-state.ts'
import type { PageRecord, RereadPages } from './listing-state.ts'
import type { RecordLocation } from './record-log.ts'
import type { RereadState } from './reread-state.ts'

/** A page as it came. */
export type CheckpointPage = {
  body: Buffer
  items: number
  blocks: { min: number; max: number } | undefined
  head: number | undefined
  /** Items that have no place in the chain. */
  bad: number
  /** Items that may be younger than the run's cut. @default 0 */
  young?: number
  covered: BlockRange
}

/** The checkpoint of a run: every page it has received, and so what is left to ask. */
export type Checkpoint = BlockCheckpoint &
  RereadState & {
    /** The file with the pages, where `frames` have their places. */
    path: string
    /** Transactions younger than this are left for a later run, milliseconds since 1970; Infinity with an endBlock. */
    cutMs: number
    /** When the run began, milliseconds since 1970: it and its resumes have this in common. */
    begunMs: number
    /** True where an earlier, unfinished run is being continued. */
    resumed: boolean
    /** Block ranges of a listing that no page has settled yet, of those in which it counts. @default all of them */
    remaining(listing: string, bounds?: BlockRange): readonly BlockRange[]
    /**
     * The block up to which pages have a listing, exclusive, where the present run has begun to read it or none ever did;
     * Infinity where earlier runs read it: then what they exported counts.
     */
    coveredTo(listing: string): number
    /** Keeps a page; resolves when it is on disk, with where its body lies. */
    addPage(wallet: string, page: CheckpointPage): Promise<RecordLocation>
    /** The pages of each listing, in the order of receipt. */
    records(listings: Listings): PageRecord[]
    /** The highest block seen that is old enough; undefined where there was none. */
    head(): number | undefined
    /**
     * The end of the run, exclusive, the same for all wallets and kept across resumes. Without an endBlock it is settled
     * at the first call, one past the head or at `least`; where the chain grew between two processes, wallets whose newest blocks the
     * earlier one read then have the blocks from there up to the end in `remaining` again.
     */
    pinEndBlock(minEnd?: number): Promise<number>
    /** The body there; of a stretch of blocks all bodies as one JSON list. */
    read(location: RecordLocation): Promise<Buffer>
    /** Blocks before this one were written by runs whose pages are gone. */
    base: number
    /** From here on the run asks what wallets of earlier runs lack. */
    from: number
    /** Pages of earlier runs beside those of the present one, where it reads the last blocks again. */
    rereadPages(listing: string): RereadPages
    /** What runs have written, in the order of blocks. */
    written(): readonly WrittenRange[]
    /** Ends the run, its files being written: the pages stay, so that a later run can go on from here. */
    finish(written: WrittenRange): Promise<void>
    close(): Promise<void>
  }
