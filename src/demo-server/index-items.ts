import type { ChainItems } from './chain.ts'
import { type JsonObject, objectOf } from './json.ts'
import { once } from './once.ts'
import { addressesOf } from './wallet-view.ts'

/**
 * Indexes a chain's transactions by block and, at the first lookup, by address and by hash. An item without a valid block
 * number (a broken record, served for tests) gets the block of the item before it.
 */
export function indexItems(
  rawItems: readonly JsonObject[],
  options: Pick<ChainItems, 'dropsEmptyInOddBlocks'>,
): ChainItems {
  const numbers: number[] = []
  for (const item of rawItems) numbers.push(blockNumberOf(item) ?? numbers.at(-1) ?? 0)
  const order = numbers.map((number, position) => ({ number, position })).sort((a, b) => a.number - b.number)
  const items = order.map(({ position }) => rawItems[position] as JsonObject)
  const positions = once(() => collectPositions(items))
  const hashes = once(() => new Map(items.map((item, position) => [hashOf(item), position])))
  return {
    items,
    blockNumbers: order.map(({ number }) => number),
    positionsOf: (address) => positions().get(address) ?? [],
    positionOf: (hash) => hashes().get(hash),
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

function collectPositions(items: readonly JsonObject[]): Map<string, number[]> {
  const positions = new Map<string, number[]>()
  for (const [position, item] of items.entries()) {
    for (const address of addressesOf(item)) {
      const existing = positions.get(address)
      if (existing) existing.push(position)
      else positions.set(address, [position])
    }
  }
  return positions
}
