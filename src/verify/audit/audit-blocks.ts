import { compareBlock, type ExportedTransaction } from './compare-block.ts'
import { readListed } from './listed-transaction.ts'
import { type AuditVerdict, openTally } from './verdict.ts'

export type AuditTools = {
  /** A block's entries as the service lists them; undefined where it does not know the block. */
  listBlock: (block: number) => Promise<readonly unknown[] | undefined>
  /** The exported transactions from block `first` to `last`, by block. */
  exportedIn: (blocks: { first: number; last: number }) => Promise<Map<number, ExportedTransaction[]>>
  isWallet: (address: string, block: number) => boolean
  /** Told how many blocks are done. */
  onProgress: (blocks: number) => void
}

/** Holds each block's listing against the export; blocks have to rise. Some hundred blocks are in memory at once. */
export async function auditBlocks(blocks: Iterable<number>, tools: AuditTools): Promise<AuditVerdict> {
  const tally = openTally()
  let done = 0
  for (const batch of inBatches(blocks)) {
    const exported = await tools.exportedIn({ first: batch[0] ?? 0, last: batch.at(-1) ?? 0 })
    // Findings are added in block order, whatever the order of answers: the same blocks give the same verdict.
    const listings = await Promise.all(batch.map(tools.listBlock))
    for (const [at, block] of batch.entries()) {
      const entries = listings[at]
      if (entries === undefined) tally.addUnknown()
      else tally.add(block, judge(entries, { block, exported: exported.get(block) ?? [], tools }))
    }
    done += batch.length
    tools.onProgress(done)
  }
  return tally.verdict()
}

/** Blocks whose listings are held at once. */
const BATCH = 128

function* inBatches(blocks: Iterable<number>): Generator<number[], void, void> {
  let batch: number[] = []
  for (const block of blocks) {
    batch.push(block)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

type Judging = { block: number; exported: readonly ExportedTransaction[]; tools: AuditTools }

function judge(entries: readonly unknown[], { block, exported, tools }: Judging) {
  const listed = entries.flatMap((entry) => readListed(entry) ?? [])
  const isWallet = (address: string) => tools.isWallet(address, block)
  return { ...compareBlock({ listed, exported, isWallet }), unreadable: entries.length - listed.length }
}
