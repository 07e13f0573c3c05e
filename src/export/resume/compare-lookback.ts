import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { PageRecord } from '../../checkpoint/listing-state.ts'
import type { Listings } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import type { Source } from '../../sources/source.ts'
import { keyedItems } from '../../transform/merge/record-items.ts'

/**
 * Whether the lookback, as read by this run, has other on-chain fields than the stored pages of earlier
 * runs: a transaction was added, removed or moved, or its entries differ. Names, prices and metadata are not
 * compared. A transaction that one of the two contains in several versions counts as changed: a reorg happened while
 * they were read, and the export may contain the stale one.
 */
export async function hasLookbackChanged(
  checkpoint: Checkpoint,
  listings: Listings,
  { lookback, source }: { lookback: BlockRange; source: Source },
): Promise<boolean> {
  for (const name of listings.keys()) {
    const { before, after } = checkpoint.rereadPages(name)
    const context = { checkpoint, lookback, source }
    const [previousFields, currentFields] = [
      await readOnChainFields(before, context),
      await readOnChainFields(after, context),
    ]
    if (previousFields.size !== currentFields.size) return true
    for (const [hash, fields] of currentFields)
      if (fields === CONTRADICTORY || previousFields.get(hash) !== fields) return true
  }
  return false
}

/** Replaces the on-chain fields of a transaction that was received with different ones. */
const CONTRADICTORY = 'contradictory'

type ReadContext = { checkpoint: Checkpoint; lookback: BlockRange; source: Source }

/** Returns the on-chain fields of each transaction by hash. */
async function readOnChainFields(
  records: readonly PageRecord[],
  { checkpoint, lookback: { from, to }, source }: ReadContext,
) {
  const fields = new Map<string, string>()
  for (const { location, blocks, validBefore, rereadRanges = [] } of records) {
    if (blocks === null || blocks.max < from || blocks.min >= to) continue
    for (const { key, item } of keyedItems(await checkpoint.read(location), source)) {
      if (key.block < from || key.block >= Math.min(to, validBefore)) continue
      if (rereadRanges.some((range) => key.block >= range.from && key.block < range.to)) continue
      const [known, found] = [fields.get(key.hash), source.onChainFieldsOf(item)]
      fields.set(key.hash, known === undefined || known === found ? found : CONTRADICTORY)
    }
  }
  return fields
}
