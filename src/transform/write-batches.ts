import { mayContain } from './batches.ts'
import { findBackwardTimes } from './find-backward-times.ts'
import { findReorged, type ReorgedTransactions } from './find-reorged.ts'
import { findDuplicates, fingerprint, readFingerprints } from './merge/fingerprints.ts'
import { openIndexes, type RejectedTimes, type StagedPageLocation } from './staged/read-staged.ts'
import type { BatchRows, BlockRangeBatch } from './write-batch.ts'

export type WritingBatches = {
  /** All pages, in the order in which they were received. */
  pages: readonly StagedPageLocation[]
  /** Folder of the staging files. */
  folder: string
  /** Block time up to which earlier runs have exported, in milliseconds since 1970; 0 if unknown. */
  floorMs: number
  write: (batch: BlockRangeBatch) => Promise<BatchRows>
}

/**
 * Writes contiguous batches so that every transaction has a single position and no block is older than an earlier
 * one. Each depends on the other: a rejected record gives no position, and a position decides which times count. So
 * both are determined among the records that are not rejected, until no further time is. Only the batches concerned
 * are written again.
 */
export async function writeBatches(
  cut: readonly BlockRangeBatch[],
  writing: WritingBatches,
): Promise<readonly BatchRows[]> {
  const { pages, folder, floorMs, write } = writing
  const listed = await Promise.all(cut.map(write))
  const duplicates = findDuplicates(listed.map(({ hashes }) => hashes))
  const rejectedTimes = new Map<number, Set<number>>()
  const { readIndex, close } = openIndexes(folder)
  try {
    for (;;) {
      const moved = findReorged(listed, { pages, duplicates, readIndex, rejectedTimes })
      const batches = await rewrite(listed, { ...moved, rejectedTimes }, writing)
      const search = { pages, readIndex, reorged: moved.reorged, rejectedTimes }
      const backward = findBackwardTimes(batches, floorMs, search)
      if (backward.length === 0) return batches
      for (const { block, second } of backward)
        rejectedTimes.set(block, (rejectedTimes.get(block) ?? new Set()).add(second))
    }
  } finally {
    close()
  }
}

/** Writes the batches again that contain one of the transactions or times. Returns all batches. */
async function rewrite(
  listed: readonly BatchRows[],
  { reorged, offsets, rejectedTimes }: ReorgedTransactions & { rejectedTimes: RejectedTimes },
  { pages, write }: WritingBatches,
): Promise<readonly BatchRows[]> {
  if (reorged.size === 0 && rejectedTimes.size === 0) return listed
  const prints = new Set([...reorged.keys()].map(fingerprint))
  const blocks = [...rejectedTimes.keys()]
  const batches: BatchRows[] = []
  for (const batch of listed) {
    const { range, hashes } = batch
    const isConcerned =
      blocks.some((block) => block >= range.from && block < range.to) ||
      readFingerprints(hashes).some((print) => prints.has(print))
    if (!isConcerned) batches.push(batch)
    else {
      // A page with a reorged transaction has no key range, because its item may move outside of it.
      const contained = pages.flatMap((page) => {
        if (offsets.has(page.offset)) return { ...page, keyRange: null }
        return mayContain(page, range) ? page : []
      })
      batches.push(await write({ range, pages: contained, reorged, rejectedTimes }))
    }
  }
  return batches
}
