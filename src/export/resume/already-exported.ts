import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { PageRecord } from '../../checkpoint/listing-state.ts'
import type { BlockRange, Job } from '../../core/model/model.ts'
import { keyOfItem } from '../../sources/data-api/parse-item-key.ts'
import type { Store } from '../../storage/store.ts'
import { hashesInFiles } from '../../transform/hashes-in-files.ts'
import { fingerprint, fingerprintBytes, readFingerprints } from '../../transform/merge/fingerprints.ts'
import { storedItems } from '../../transform/merge/record-items.ts'
import type { BatchRows } from '../../transform/write-batch.ts'
import { listingsToRead, type PreviousExport } from './previous-export.ts'

/** Transactions that a run is about to write and that files of earlier runs, which stay, hold in other blocks. */
export type AlreadyExported = {
  transactions: number
  /** The first block in which one was exported, as far as pages tell; undefined where the pages are gone. */
  block: number | undefined
}

export type ComparisonContext = { job: Job; checkpoint: Checkpoint; store: Store; previous: PreviousExport }

/**
 * Compares what a run is about to write with the files that stay. A chain that was reorganised across the block where the
 * run begins to write has moved transactions over it: published like this, they would stand twice.
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
  const found = new Set<number>()
  let first: BlockRange | undefined
  for (const written of previous.written) {
    const countBefore = found.size
    for await (const hashes of hashesOf(context, written))
      for (const hash of hashes) if (newHashes.has(hash)) found.add(hash)
    if (found.size > countBefore) first ??= written
  }
  if (first === undefined) return undefined
  const hasPages = first.from >= checkpoint.base
  return { transactions: found.size, block: hasPages ? await firstBlock(context, first, found) : undefined }
}

/** Fingerprints of the transactions in blocks that were written, from the checkpoint; where it has none, from the files. */
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
  // An export without rows has been compared too.
  await checkpoint.storeHashes(written, new Uint8Array())
}

/** The first block from `range` on in which pages of earlier runs show one of these; where none does, the range's first. */
async function firstBlock(
  { job, checkpoint, previous }: ComparisonContext,
  { from }: BlockRange,
  wanted: ReadonlySet<number>,
): Promise<number> {
  let first = Number.POSITIVE_INFINITY
  for (const record of checkpoint.records(listingsToRead(job, { ...previous, from }))) {
    if (record.blocks === null || record.blocks.max < from || record.blocks.min >= previous.from) continue
    for (const item of storedItems(await checkpoint.read(record.location))) {
      const key = keyOfItem(item)
      if (typeof key === 'string' || key.block < from || !isIncluded(record, key.block)) continue
      if (wanted.has(fingerprint(key.hash))) first = Math.min(first, key.block)
    }
  }
  return first < previous.from ? first : from
}

const isIncluded = ({ validBefore, rereadRanges = [] }: PageRecord, block: number) =>
  block < validBefore && !rereadRanges.some(({ from, to }) => block >= from && block < to)

/** Fingerprints that are kept in one record of the checkpoint: 8 MB. */
const HASHES_PER_RECORD = 1_000_000

/** Keeps the fingerprints of what was written, for later runs to compare with. */
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
