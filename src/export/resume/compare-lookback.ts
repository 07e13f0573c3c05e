import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { PageRecord } from '../../checkpoint/listing-state.ts'
import type { Listings } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { source } from '../../sources/index.ts'
import { keyedItems } from '../../transform/merge/record-items.ts'

/**
 * Whether the lookback, as read by this run, states other facts of the chain than the stored pages of earlier
 * runs: a transaction was added, removed or moved, or its entries differ. Names, prices and metadata are not
 * compared. A transaction that one of the two states in several ways counts as changed: a reorg happened while
 * they were read, and the export may contain the stale one.
 */
export async function hasLookbackChanged(
  checkpoint: Checkpoint,
  listings: Listings,
  lookback: BlockRange,
): Promise<boolean> {
  for (const name of listings.keys()) {
    const { before, after } = checkpoint.rereadPages(name)
    const [previousFacts, currentFacts] = [
      await readFacts(checkpoint, before, lookback),
      await readFacts(checkpoint, after, lookback),
    ]
    if (previousFacts.size !== currentFacts.size) return true
    for (const [hash, facts] of currentFacts)
      if (facts === CONTRADICTORY || previousFacts.get(hash) !== facts) return true
  }
  return false
}

/** In place of the facts of a transaction that was received with different ones. */
const CONTRADICTORY = 'contradictory'

/** Returns the facts of each transaction by hash. */
async function readFacts(checkpoint: Checkpoint, records: readonly PageRecord[], { from, to }: BlockRange) {
  const facts = new Map<string, string>()
  for (const { location, blocks, validBefore, rereadRanges = [] } of records) {
    if (blocks === null || blocks.max < from || blocks.min >= to) continue
    for (const { key, item } of keyedItems(await checkpoint.read(location))) {
      if (key.block < from || key.block >= Math.min(to, validBefore)) continue
      if (rereadRanges.some((range) => key.block >= range.from && key.block < range.to)) continue
      const [known, found] = [facts.get(key.hash), source.factsOf(item)]
      facts.set(key.hash, known === undefined || known === found ? found : CONTRADICTORY)
    }
  }
  return facts
}
