import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { type ItemKey, isAfterCutoff } from '../core/model/item-key.ts'
import type { Listings } from '../core/model/listings.ts'
import type { LeftOut } from '../core/model/run-stats.ts'
import type { Source } from '../sources/source.ts'
import { fingerprint } from './merge/fingerprints.ts'
import { keyedItems } from './merge/page-items.ts'

/**
 * Counts the transactions that were read but are not exported because they are newer than the run's cutoff.
 * Returns undefined if there are none.
 */
export async function countLeftOut(
  checkpoint: Pick<Checkpoint, 'records' | 'read' | 'cutoffMs'>,
  listings: Listings,
  source: Source,
): Promise<LeftOut | undefined> {
  const clockMs = Date.now()
  const [seen, newer] = [new Set<number>(), new Set<number>()]
  let newestMs = 0
  const add = ({ hash, timeMs }: ItemKey) => {
    const id = fingerprint(hash)
    seen.add(id)
    if (timeMs > clockMs) newer.add(id)
    newestMs = Math.max(newestMs, timeMs)
  }
  for (const { location, afterCutoff = 0, validBefore } of checkpoint.records(listings)) {
    if (afterCutoff === 0) continue
    for (const { key } of keyedItems(await checkpoint.read(location), source))
      if (key.block < validBefore && isAfterCutoff(key, checkpoint.cutoffMs)) add(key)
  }
  if (seen.size === 0) return undefined
  return { transactions: seen.size, newerThanClock: newer.size, newestMs, clockMs }
}
