import { addBlock, subtractRange, unionRanges } from '../core/model/block-ranges.ts'
import type { BlockRange } from '../core/model/model.ts'
import { parseJson } from '../core/platform/json-text.ts'
import type { RecordLocation, RecordLog } from './record-log.ts'

/** The first pages of a block, with a comma between, and the token of the next. */
type StoredPartialBlock = { body: Buffer; token: string; pages: number; items: number; bad: number }

/** What a spool of blocks keeps beside whole blocks. */
export type BlockCheckpoint = {
  /** Keeps the first pages of a block that could not be read whole. */
  addPartial(block: number, partial: StoredPartialBlock): Promise<void>
  /** The first pages of a block, where an earlier process has kept them. */
  partial(block: number): Promise<StoredPartialBlock | undefined>
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
  partial: Map<number, Omit<StoredPartialBlock, 'body'> & { location: RecordLocation }>
}

/** A state, and what is left to ask of all blocks. */
type BlockReplayContext = { blocks: BlockState; listing: () => { remaining: BlockRange[] } }

/** Takes note of a frame, with where its body lies; false where it is not one of blocks only. */
export function replayBlockRecord(
  context: BlockReplayContext,
  header: Record<string, unknown>,
  location: RecordLocation,
): boolean {
  if (header.kind === 'missing') applyMissing(context, header.block as number)
  else if (header.kind === 'again') applyReopenMissing(context)
  else if (header.kind === 'begun') applyPartial(context, header as unknown as PartialBlockHeader, location)
  else return false
  return true
}

export function blockCheckpointOn(log: RecordLog, context: BlockReplayContext): BlockCheckpoint {
  const { blocks } = context
  return {
    addPartial: async (block, { body, ...partial }) => {
      const { token, pages, items, bad } = partial
      const header = { block, token, pages, items, bad }
      applyPartial(context, header, await log.append({ kind: 'begun', ...header }, body))
    },
    partial: async (block) => {
      const stored = blocks.partial.get(block)
      if (stored === undefined) return undefined
      const { location, ...partial } = stored
      const body = await log.read(location)
      // What cannot be read is requested again.
      return parseJson(`[${body.toString('utf8')}]`) === undefined ? undefined : { ...partial, body }
    },
    addMissing: async (block) => {
      await log.append({ kind: 'missing', block }, EMPTY_BODY)
      applyMissing(context, block)
    },
    missing: () => blocks.missing,
    reopenMissing: async () => {
      if (blocks.missing.length === 0) return false
      await log.append({ kind: 'again' }, EMPTY_BODY)
      applyReopenMissing(context)
      return true
    },
  }
}

const EMPTY_BODY = Buffer.alloc(0)

type PartialBlockHeader = Omit<StoredPartialBlock, 'body'> & { block: number }

function applyPartial(
  { blocks }: BlockReplayContext,
  { block, token, pages, items, bad }: PartialBlockHeader,
  location: RecordLocation,
) {
  blocks.partial.set(block, { location, token, pages, items, bad })
}

function applyMissing({ blocks, listing }: BlockReplayContext, block: number): void {
  const listingState = listing()
  listingState.remaining = subtractRange(listingState.remaining, { from: block, to: block + 1 })
  blocks.partial.delete(block)
  addBlock(blocks.missing, block)
}

function applyReopenMissing({ blocks, listing }: BlockReplayContext): void {
  const listingState = listing()
  listingState.remaining = unionRanges([...listingState.remaining, ...blocks.missing])
  blocks.missing = []
}
