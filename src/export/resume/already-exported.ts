import type { Spool } from '../../checkpoint/checkpoint.ts'
import type { Frame } from '../../checkpoint/listing-state.ts'
import type { BlockRange, Job } from '../../core/model/model.ts'
import { keyOfItem } from '../../sources/data-api/parse-item-key.ts'
import type { Store } from '../../storage/store.ts'
import { hashesInFiles } from '../../transform/hashes-in-files.ts'
import { fingerprint, fingerprintBytes, readFingerprints } from '../../transform/merge/fingerprints.ts'
import { storedItems } from '../../transform/merge/record-items.ts'
import type { SliceRows } from '../../transform/write-batch.ts'
import { type Earlier, listingsToRead } from './previous-export.ts'

/** Transactions that a run is about to write and that files of earlier runs, which stay, hold in other blocks. */
export type ExportedBefore = {
  transactions: number
  /** The first block in which one was exported, as far as pages tell; undefined where the pages are gone. */
  block: number | undefined
}

export type Comparing = { job: Job; spool: Spool; store: Store; earlier: Earlier }

/**
 * Compares what a run is about to write with the files that stay. A chain that was reorganised across the block where the
 * run begins to write has moved transactions over it: published like this, they would stand twice.
 */
export async function findExportedBefore(
  comparing: Comparing,
  slices: readonly Pick<SliceRows, 'hashes'>[],
): Promise<ExportedBefore | undefined> {
  const { spool, earlier } = comparing
  const fresh = new Set<number>()
  if (earlier.written.length > 0)
    for (const { hashes } of slices) for (const one of readFingerprints(hashes)) fresh.add(one)
  if (fresh.size === 0) return undefined
  const found = new Set<number>()
  let first: BlockRange | undefined
  for (const written of earlier.written) {
    const before = found.size
    for await (const hashes of hashesOf(comparing, written))
      for (const one of hashes) if (fresh.has(one)) found.add(one)
    if (found.size > before) first ??= written
  }
  if (first === undefined) return undefined
  const hasPages = first.from >= spool.base
  return { transactions: found.size, block: hasPages ? await firstBlock(comparing, first, found) : undefined }
}

/** Fingerprints of the transactions in blocks that were written, from the checkpoint; where it has none, from the files. */
async function* hashesOf(
  { job, spool, store, earlier: { before, from } }: Comparing,
  written: BlockRange,
): AsyncGenerator<Iterable<number>> {
  const kept = spool.hashesOf(written)
  if (kept !== undefined) {
    for (const { offset, bytes } of kept) yield readFingerprints({ path: spool.path, start: offset, bytes })
    return
  }
  if (before === undefined) return
  const files = {
    store,
    manifest: before,
    format: job.format,
    range: { ...written, to: Math.min(written.to, from) },
  }
  for await (const hashes of hashesInFiles(files)) {
    const prints = hashes.map(fingerprint)
    await spool.keepHashes(written, fingerprintBytes(prints))
    yield prints
  }
  // An export without rows has been compared too.
  await spool.keepHashes(written, new Uint8Array())
}

/** The first block from `range` on in which pages of earlier runs show one of these; where none does, the range's first. */
async function firstBlock(
  { job, spool, earlier }: Comparing,
  { from }: BlockRange,
  wanted: ReadonlySet<number>,
): Promise<number> {
  let first = Number.POSITIVE_INFINITY
  for (const frame of spool.frames(listingsToRead(job, { ...earlier, from }))) {
    if (frame.blocks === null || frame.blocks.max < from || frame.blocks.min >= earlier.from) continue
    for (const item of storedItems(await spool.read(frame.place))) {
      const key = keyOfItem(item)
      if (typeof key === 'string' || key.block < from || !counts(frame, key.block)) continue
      if (wanted.has(fingerprint(key.hash))) first = Math.min(first, key.block)
    }
  }
  return first < earlier.from ? first : from
}

const counts = ({ until, replaced = [] }: Frame, block: number) =>
  block < until && !replaced.some(({ from, to }) => block >= from && block < to)

/** Fingerprints that are kept in one record of the checkpoint: 8 MB. */
const HASHES_AT_ONCE = 1_000_000

/** Keeps the fingerprints of what was written, for later runs to compare with. */
export async function keepHashes(
  { spool, job }: Pick<Comparing, 'spool' | 'job'>,
  range: BlockRange,
  slices: readonly Pick<SliceRows, 'hashes'>[],
): Promise<void> {
  if (job.endBlock !== undefined || range.from >= range.to) return
  let waiting: number[] = []
  for (const { hashes } of slices) {
    for (const one of readFingerprints(hashes)) waiting.push(one)
    if (waiting.length < HASHES_AT_ONCE) continue
    await spool.keepHashes(range, fingerprintBytes(waiting))
    waiting = []
  }
  await spool.keepHashes(range, fingerprintBytes(waiting))
}
