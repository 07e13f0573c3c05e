import TinyQueue from 'tinyqueue'
import { compareKeys } from '../../core/model/item-key.ts'
import {
  type ChainPosition,
  compareFirst,
  compareItems,
  type ItemSource,
  type PositionedItem,
} from './page-items.ts'

/** All views of one transaction, sorted by wallet address, one per wallet. */
export type TransactionViews<T extends PositionedItem> = readonly [T, ...T[]]

type Cursor<T> = { item: T; items: readonly T[]; at: number; order: number }

/**
 * K-way merge: yields every transaction of the sources with all its views, in chain order. A source is loaded
 * when the merge reaches its first position and released after its last item, so memory holds only sources
 * that overlap. If a wallet's item was received more than once (page boundaries, resumed ranges), the last
 * one received wins.
 *
 * @param sources in the order in which they were received
 */
export function* mergeItems<T extends PositionedItem>(
  sources: readonly ItemSource<T>[],
): Generator<TransactionViews<T>, void, void> {
  const next = sortedReader(sources)
  let views: T[] = []
  for (let item = next(); item !== undefined; item = next()) {
    const last = views.at(-1)
    if (last !== undefined && compareKeys(last.key, item.key) !== 0) {
      yield views as unknown as TransactionViews<T>
      views = [item]
    } else if (last?.wallet === item.wallet) views[views.length - 1] = item
    else views.push(item)
  }
  if (views.length > 0) yield views as unknown as TransactionViews<T>
}

/** Returns a function that returns the next item in chain order, then undefined. */
function sortedReader<T extends PositionedItem>(sources: readonly ItemSource<T>[]): () => T | undefined {
  const pending = sources.map((source, order) => ({ source, order }))
  pending.sort((a, b) => compareFirst(a.source, b.source) || a.order - b.order)
  const heap = new TinyQueue<Cursor<T>>([], (a, b) => compareItems(a.item, b.item) || a.order - b.order)
  let opened = 0
  const open = ({ source, order }: (typeof pending)[number]) => {
    const items = source.load()
    const [item] = items
    if (item !== undefined) heap.push({ item, items, at: 0, order })
  }
  return () => {
    for (let source = pending[opened]; source !== undefined; source = pending[opened]) {
      const front = heap.peek()
      if (front !== undefined && !startsAtOrBefore(source.source, front.item.key)) break
      opened += 1
      open(source)
    }
    const front = heap.pop()
    if (front === undefined) return undefined
    const { item } = front
    front.at += 1
    const following = front.items[front.at]
    if (following !== undefined) {
      front.item = following
      heap.push(front)
    }
    return item
  }
}

/** Whether the source may contain an item at or before this position. */
function startsAtOrBefore({ keyRange }: Pick<ItemSource, 'keyRange'>, position: ChainPosition): boolean {
  return keyRange === null || compareKeys(keyRange.first, position) <= 0
}
