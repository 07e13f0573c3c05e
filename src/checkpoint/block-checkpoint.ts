import { addBlock, subtractRange, unionRanges } from '../core/model/block-ranges.ts'
import type { BlockRange } from '../core/model/model.ts'
import { parseJson } from '../core/platform/json-text.ts'
import type { RecordLocation, RecordLog } from './record-log.ts'

/** The first pages of a block, joined by commas, the token of the next page, and the page size that it belongs to. */
type StoredPartialBlock = {
  body: Buffer
  token: string
  pageSize?: number | undefined
  pages: number
  items: number
  bad: number
}

/** The part of a checkpoint that is specific to blocks jobs: partially read blocks and missing blocks. */
export type BlockCheckpoint = {
  /** Stores the first pages of a block that could not be read completely. */
  addPartial(block: number, partial: StoredPartialBlock): Promise<void>
  /** Returns the stored first pages of a block; undefined if there are none or they cannot be read. */
  partial(block: number): Promise<StoredPartialBlock | undefined>
  /** Records that the service does not have a block. Resolves when the record is written. */
  addMissing(block: number): Promise<void>
  /** Blocks that were requested and that the service does not have, in ascending order. */
  missing(): readonly BlockRange[]
  /** Reopens the missing blocks: they are requested again. Resolves with whether there were any. */
  reopenMissing(): Promise<boolean>
}

/** State of a blocks job, replayed from the records of a checkpoint and updated as records are written. */
export type BlockState = {
  /** Blocks that were requested and that the service does not have. */
  missing: BlockRange[]
  /** Partially read blocks by number. There are at most as many as blocks are read concurrently. */
  partial: Map<number, Omit<StoredPartialBlock, 'body'> & { location: RecordLocation }>
}

/** The block state, and the listing that tracks the remaining blocks. */
type BlockReplayContext = { blocks: BlockState; listing: () => { remaining: BlockRange[] } }

/** Applies a record that only blocks jobs write. Returns false for records of other kinds. */
export function replayBlockRecord(
  context: BlockReplayContext,
  header: Record<string, unknown>,
  location: RecordLocation,
): boolean {
  if (header.kind === 'missing') applyMissing(context, header.block as number)
  else if (header.kind === 'reopen-missing') applyReopenMissing(context)
  else if (header.kind === 'partial') applyPartial(context, header as unknown as PartialBlockHeader, location)
  else return false
  return true
}

export function blockCheckpointOn(log: RecordLog, context: BlockReplayContext): BlockCheckpoint {
  const { blocks } = context
  return {
    addPartial: async (block, { body, ...partial }) => {
      const { token, pageSize, pages, items, bad } = partial
      const header = { block, token, pageSize, pages, items, bad }
      applyPartial(context, header, await log.append({ kind: 'partial', ...header }, body))
    },
    partial: async (block) => {
      const stored = blocks.partial.get(block)
      if (stored === undefined) return undefined
      const { location, ...partial } = stored
      const body = await log.read(location)
      // Pages that are not valid JSON are requested again.
      return parseJson(`[${body.toString('utf8')}]`) === undefined ? undefined : { ...partial, body }
    },
    addMissing: async (block) => {
      await log.append({ kind: 'missing', block }, EMPTY_BODY)
      applyMissing(context, block)
    },
    missing: () => blocks.missing,
    reopenMissing: async () => {
      if (blocks.missing.length === 0) return false
      await log.append({ kind: 'reopen-missing' }, EMPTY_BODY)
      applyReopenMissing(context)
      return true
    },
  }
}

const EMPTY_BODY = Buffer.alloc(0)

type PartialBlockHeader = Omit<StoredPartialBlock, 'body'> & { block: number }

function applyPartial(
  { blocks }: BlockReplayContext,
  { block, token, pageSize, pages, items, bad }: PartialBlockHeader,
  location: RecordLocation,
) {
  blocks.partial.set(block, { location, token, pageSize, pages, items, bad })
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
