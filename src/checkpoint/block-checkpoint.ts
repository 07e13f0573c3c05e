import { includeBlock, subtractRange, uniteRanges } from '../core/model/block-ranges.ts'
import type { BlockRange } from '../core/model/model.ts'
import { parseJson } from '../core/platform/json-text.ts'
import type { FrameLog, FramePlace } from './record-log.ts'

/** The first pages of a block, with a comma between, and the token of the next. */
type BegunPages = { body: Buffer; token: string; pages: number; items: number; bad: number }

/** What a spool of blocks keeps beside whole blocks. */
export type BlockSpool = {
  /** Keeps the first pages of a block that could not be read whole. */
  addBegun(block: number, begun: BegunPages): Promise<void>
  /** The first pages of a block, where an earlier process has kept them. */
  begun(block: number): Promise<BegunPages | undefined>
  /** Notes that the service does not have a block; resolves when that is on disk. */
  addMissing(block: number): Promise<void>
  /** Blocks that the service was asked for and did not have, in order. */
  missing(): readonly BlockRange[]
  /** Leaves the missing blocks to be asked for again; resolves with whether there were any. */
  reopenMissing(): Promise<boolean>
}

/** What the frames of a spool say of its blocks, kept up to date as they are written. */
export type BlockState = {
  /** Blocks that the service was asked for and did not have. */
  missing: BlockRange[]
  /** Blocks of which the first pages are there, by number: no more than were being read at once. */
  begun: Map<number, Omit<BegunPages, 'body'> & { place: FramePlace }>
}

/** A state, and what is left to ask of all blocks. */
type BlocksAt = { blocks: BlockState; listing: () => { remaining: BlockRange[] } }

/** Takes note of a frame, with where its body lies; false where it is not one of blocks only. */
export function replayBlocks(at: BlocksAt, head: Record<string, unknown>, place: FramePlace): boolean {
  if (head.kind === 'missing') noteMissing(at, head.block as number)
  else if (head.kind === 'again') noteAgain(at)
  else if (head.kind === 'begun') noteBegun(at, head as unknown as BegunHead, place)
  else return false
  return true
}

export function blockSpoolOn(log: FrameLog, at: BlocksAt): BlockSpool {
  const { blocks } = at
  return {
    addBegun: async (block, { body, ...begun }) => {
      const { token, pages, items, bad } = begun
      const head = { block, token, pages, items, bad }
      noteBegun(at, head, await log.append({ kind: 'begun', ...head }, body))
    },
    begun: async (block) => {
      const kept = blocks.begun.get(block)
      if (kept === undefined) return undefined
      const { place, ...begun } = kept
      const body = await log.read(place)
      // What cannot be read is requested again.
      return parseJson(`[${body.toString('utf8')}]`) === undefined ? undefined : { ...begun, body }
    },
    addMissing: async (block) => {
      await log.append({ kind: 'missing', block }, EMPTY)
      noteMissing(at, block)
    },
    missing: () => blocks.missing,
    reopenMissing: async () => {
      if (blocks.missing.length === 0) return false
      await log.append({ kind: 'again' }, EMPTY)
      noteAgain(at)
      return true
    },
  }
}

const EMPTY = Buffer.alloc(0)

type BegunHead = Omit<BegunPages, 'body'> & { block: number }

function noteBegun({ blocks }: BlocksAt, { block, token, pages, items, bad }: BegunHead, place: FramePlace) {
  blocks.begun.set(block, { place, token, pages, items, bad })
}

function noteMissing({ blocks, listing }: BlocksAt, block: number): void {
  const at = listing()
  at.remaining = subtractRange(at.remaining, { from: block, to: block + 1 })
  blocks.begun.delete(block)
  includeBlock(blocks.missing, block)
}

function noteAgain({ blocks, listing }: BlocksAt): void {
  const at = listing()
  at.remaining = uniteRanges([...at.remaining, ...blocks.missing])
  blocks.missing = []
}
