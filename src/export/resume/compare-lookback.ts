import type { Spool } from '../../checkpoint/checkpoint.ts'
import type { Frame } from '../../checkpoint/listing-state.ts'
import type { Listings } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { writeJson } from '../../core/platform/json-text.ts'
import { keyOfItem } from '../../sources/data-api/parse-item-key.ts'
import { storedItems } from '../../transform/merge/record-items.ts'

/**
 * True where blocks that a run has read again tell other facts of the chain than the pages that earlier runs kept of them:
 * a transaction that came, left, moved or has other entries. Names, prices and metadata are no facts of the chain.
 */
export async function hasBorderChanged(
  spool: Spool,
  listings: Listings,
  border: BlockRange,
): Promise<boolean> {
  for (const name of listings.keys()) {
    const { before, after } = spool.readAgain(name)
    const [was, is] = [await factsIn(spool, before, border), await factsIn(spool, after, border)]
    if (was.size !== is.size) return true
    for (const [hash, facts] of is) if (was.get(hash) !== facts) return true
  }
  return false
}

/** By transaction hash, what the pages say of it; of an item that was received twice, as it was received last. */
async function factsIn(spool: Spool, frames: readonly Frame[], { from, to }: BlockRange) {
  const facts = new Map<string, string>()
  for (const { place, blocks, until, replaced = [] } of frames) {
    if (blocks === null || blocks.max < from || blocks.min >= to) continue
    for (const item of storedItems(await spool.read(place))) {
      const key = keyOfItem(item)
      if (typeof key === 'string' || key.block < from || key.block >= Math.min(to, until)) continue
      if (replaced.some((range) => key.block >= range.from && key.block < range.to)) continue
      facts.set(key.hash, factsOf(item))
    }
  }
  return facts
}

/** Members that a service may tell otherwise each day. */
const PASSING = new Set([
  ...['name', 'symbol', 'decimals', 'logoUri', 'price', 'metadata', 'tokenUri', 'ownerAddress', 'methodName'],
])

const factsOf = (item: unknown) =>
  writeJson(item, (fields) => Object.keys(fields).filter((name) => !PASSING.has(name)))
