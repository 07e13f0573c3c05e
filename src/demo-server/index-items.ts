import type { ChainItems } from './chain.ts'
import { type JsonObject, objectOf } from './json.ts'
import { lazy } from './once.ts'
import { addressesOf } from './wallet-view.ts'

/**
 * Indexes a chain's transactions by block and, on the first question, by address. An item whose block number cannot
 * be read (a broken record, served for tests) stays behind the item before it.
 */
export function indexItems(
  read: readonly JsonObject[],
  options: Pick<ChainItems, 'dropsEmptyInOddBlocks'>,
): ChainItems {
  const numbers: number[] = []
  for (const item of read) numbers.push(blockNumberOf(item) ?? numbers.at(-1) ?? 0)
  const order = numbers.map((number, place) => ({ number, place })).sort((a, b) => a.number - b.number)
  const items = order.map(({ place }) => read[place] as JsonObject)
  const places = lazy(() => collectPlaces(items))
  const hashes = lazy(() => new Map(items.map((item, place) => [hashOf(item), place])))
  return {
    items,
    blockNumbers: order.map(({ number }) => number),
    placesOf: (address) => places().get(address) ?? [],
    placeOf: (hash) => hashes().get(hash),
    ...options,
  }
}

function blockNumberOf(item: JsonObject): number | undefined {
  const text = objectOf(item.nativeTransaction).blockNumber
  return typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : undefined
}

function hashOf(item: JsonObject): string {
  return String(objectOf(item.nativeTransaction).txHash ?? '').toLowerCase()
}

function collectPlaces(items: readonly JsonObject[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (const [place, item] of items.entries()) {
    for (const address of addressesOf(item)) {
      const known = places.get(address)
      if (known) known.push(place)
      else places.set(address, [place])
    }
  }
  return places
}
