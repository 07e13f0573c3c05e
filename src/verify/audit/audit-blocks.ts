import { compareBlock, type ExportedTransaction } from './compare-block.ts'
import { parseListedTransaction } from './listed-transaction.ts'
import { type AuditVerdict, createVerdictBuilder } from './verdict.ts'

export type AuditContext = {
  /** Fetches a block's entries from the service; undefined if it does not know the block (404). */
  listBlock: (block: number) => Promise<readonly unknown[] | undefined>
  /** Reads the exported transactions of blocks `first` to `last` (inclusive), by block. */
  readExported: (blocks: { first: number; last: number }) => Promise<Map<number, ExportedTransaction[]>>
  isWallet: (address: string, block: number) => boolean
  /** Receives the number of compared blocks after each batch. */
  onProgress: (blocks: number) => void
}

/** Compares each block's listing with the export. `blocks` must be ascending; 128 blocks are in memory at a time. */
export async function auditBlocks(blocks: Iterable<number>, context: AuditContext): Promise<AuditVerdict> {
  const verdict = createVerdictBuilder()
  let done = 0
  for (const batch of batchesOf(blocks)) {
    const exported = await context.readExported({ first: batch[0] ?? 0, last: batch.at(-1) ?? 0 })
    // Findings are added in block order, not in order of arrival, so that the same blocks give the same verdict.
    const listings = await Promise.all(batch.map(context.listBlock))
    for (const [at, block] of batch.entries()) {
      const entries = listings[at]
      if (entries === undefined) verdict.addUnknown()
      else
        verdict.add(block, compareListing(entries, { block, exported: exported.get(block) ?? [], context }))
    }
    done += batch.length
    context.onProgress(done)
  }
  return verdict.build()
}

/** Blocks that are requested and held in memory at a time. */
const BATCH_BLOCKS = 128

function* batchesOf(blocks: Iterable<number>): Generator<number[], void, void> {
  let batch: number[] = []
  for (const block of blocks) {
    batch.push(block)
    if (batch.length < BATCH_BLOCKS) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

type BlockListingContext = { block: number; exported: readonly ExportedTransaction[]; context: AuditContext }

function compareListing(entries: readonly unknown[], { block, exported, context }: BlockListingContext) {
  const listed = entries.flatMap((entry) => parseListedTransaction(entry) ?? [])
  const isWallet = (address: string) => context.isWallet(address, block)
  return { ...compareBlock({ listed, exported, isWallet }), unreadable: entries.length - listed.length }
}
