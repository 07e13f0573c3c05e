import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { PageRecord } from '../../checkpoint/listing-state.ts'
import type { BlockRange, Job } from '../../core/model/model.ts'
import { sourceOf } from '../../sources/index.ts'
import type { Store } from '../../storage/store.ts'
import { hashesInFiles } from '../../transform/exported-files.ts'
import { fingerprint, fingerprintBytes, readFingerprints } from '../../transform/merge/fingerprints.ts'
import { keyedItems } from '../../transform/merge/page-items.ts'
import type { BatchRows } from '../../transform/write-batch.ts'
import { listingsToRead, type PreviousExport } from './previous-export.ts'

/**
 * Transactions that a run is about to write but that retained files of earlier runs already contain, in other
 * blocks.
 */
export type AlreadyExported = {
  transactions: number
  /**
   * The first block in which one of them was exported; undefined if the pages of that block are no longer
   * stored.
   */
  block: number | undefined
}

export type ComparisonContext = { job: Job; checkpoint: Checkpoint; store: Store; previous: PreviousExport }

/**
 * Compares the transactions that a run is about to write with the retained files. A reorg across the block at
 * which the run begins to write can move a transaction from a retained block to a new one. Without this check
 * it would be exported twice.
 */
export async function findAlreadyExported(
  context: ComparisonContext,
  batches: readonly Pick<BatchRows, 'hashes'>[],
): Promise<AlreadyExported | undefined> {
  const { checkpoint, previous } = context
  const newHashes = new Set<number>()
  if (previous.written.length > 0)
    for (const { hashes } of batches) for (const hash of readFingerprints(hashes)) newHashes.add(hash)
  if (newHashes.size === 0) return undefined
  const repeated = new Set<number>()
  let first: BlockRange | undefined
  for (const written of previous.written) {
    const countBefore = repeated.size
    for await (const hashes of hashesOf(context, written))
      for (const hash of hashes) if (newHashes.has(hash)) repeated.add(hash)
    if (repeated.size > countBefore) first ??= written
  }
  if (first === undefined) return undefined
  const hasPages = first.from >= checkpoint.base
  return {
    transactions: repeated.size,
    block: hasPages ? await firstBlock(context, first, repeated) : undefined,
  }
}

/**
 * Yields the fingerprints of the transactions of a written range, from the checkpoint or, if it has none,
 * from the files.
 */
async function* hashesOf(
  { job, checkpoint, store, previous: { manifest, from } }: ComparisonContext,
  written: BlockRange,
): AsyncGenerator<Iterable<number>> {
  const stored = checkpoint.hashesOf(written)
  if (stored !== undefined) {
    for (const { offset, bytes } of stored)
      yield readFingerprints({ path: checkpoint.path, start: offset, bytes })
    return
  }
  if (manifest === undefined) return
  const files = {
    store,
    manifest,
    format: job.format,
    range: { ...written, to: Math.min(written.to, from) },
  }
  for await (const hashes of hashesInFiles(files)) {
    const fingerprints = hashes.map(fingerprint)
    await checkpoint.storeHashes(written, fingerprintBytes(fingerprints))
    yield fingerprints
  }
  // Marks the range as processed even if it has no rows.
  await checkpoint.storeHashes(written, new Uint8Array())
}

/**
 * Returns the first block of the retained export in which stored pages contain one of the transactions, from
 * the start of the range on; the start of the range if none does.
 */
async function firstBlock(
  { job, checkpoint, previous }: ComparisonContext,
  { from }: BlockRange,
  wanted: ReadonlySet<number>,
): Promise<number> {
  const source = sourceOf(job.service.api)
  let first = Number.POSITIVE_INFINITY
  for (const record of checkpoint.records(listingsToRead(job, { ...previous, from }))) {
    if (record.blocks === null || record.blocks.max < from || record.blocks.min >= previous.from) continue
    for (const { key } of keyedItems(await checkpoint.read(record.location), source)) {
      if (key.block < from || !isIncluded(record, key.block)) continue
      if (wanted.has(fingerprint(key.hash))) first = Math.min(first, key.block)
    }
  }
  return first < previous.from ? first : from
}

const isIncluded = ({ validBefore, rereadRanges = [] }: PageRecord, block: number) =>
  block < validBefore && !rereadRanges.some(({ from, to }) => block >= from && block < to)

/** Maximum number of fingerprints in one record of the checkpoint (8 MB). */
const HASHES_PER_RECORD = 1_000_000

/**
 * Stores the fingerprints of the written transactions in the checkpoint, for the comparison in later runs.
 */
export async function storeHashes(
  { checkpoint, job }: Pick<ComparisonContext, 'checkpoint' | 'job'>,
  range: BlockRange,
  batches: readonly Pick<BatchRows, 'hashes'>[],
): Promise<void> {
  if (job.endBlock !== undefined || range.from >= range.to) return
  let pending: number[] = []
  for (const { hashes } of batches) {
    for (const hash of readFingerprints(hashes)) pending.push(hash)
    if (pending.length < HASHES_PER_RECORD) continue
    await checkpoint.storeHashes(range, fingerprintBytes(pending))
    pending = []
  }
  await checkpoint.storeHashes(range, fingerprintBytes(pending))
}
