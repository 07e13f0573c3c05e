import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import { type Listings, UNBOUNDED } from '../../core/model/listings.ts'
import { largest, smallest } from '../../core/platform/extremes.ts'
import type { Source } from '../../sources/source.ts'
import { keyedItems } from '../../transform/merge/page-items.ts'
import type { Comparison } from './compare-lookback.ts'

type ConfirmOptions = {
  source: Source
  /** Fetches the remaining blocks. */
  fetchMissing: () => Promise<number>
}

/**
 * Reads transactions that have vanished from a listing a second time, before their rows are removed: a replica of the
 * service may have answered with an older state, or with nothing. If the second answer contains them, they stay. If not,
 * the coverage of the listing ends before them, so that the next run reads their blocks once more.
 *
 * @returns the number of transactions that the second answer contains
 */
export async function confirmRemovals(
  checkpoint: Pick<Checkpoint, 'reopen' | 'records' | 'read' | 'limitCoverage'>,
  vanished: Comparison['vanished'],
  { source, fetchMissing }: ConfirmOptions,
): Promise<number> {
  for (const [name, blocks] of vanished)
    await checkpoint.reopen(name, { from: smallest(blocks.values()), to: largest(blocks.values()) + 1 })
  if (vanished.size > 0) await fetchMissing()
  let kept = 0
  for (const [name, blocks] of vanished) {
    const present = await hashesIn(checkpoint, { name, from: smallest(blocks.values()), source })
    const removed = [...blocks].filter(([hash]) => !present.has(hash))
    kept += blocks.size - removed.length
    if (removed.length > 0) await checkpoint.limitCoverage(name, smallest(removed.map(([, block]) => block)))
  }
  return kept
}

async function hashesIn(
  checkpoint: Pick<Checkpoint, 'records' | 'read'>,
  { name, from: first, source }: { name: string; from: number; source: Source },
): Promise<ReadonlySet<string>> {
  const listings: Listings = new Map([[name, UNBOUNDED]])
  const hashes = new Set<string>()
  for (const { location, blocks, validBefore, rereadRanges = [] } of checkpoint.records(listings)) {
    if (blocks === null || blocks.max < first) continue
    for (const { key } of keyedItems(await checkpoint.read(location), source))
      if (
        key.block < validBefore &&
        !rereadRanges.some(({ from, to }) => key.block >= from && key.block < to)
      )
        hashes.add(key.hash)
  }
  return hashes
}
