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

/**
 * Divides sources, in chain order, into groups that do not overlap, so that only the items of each group must be merged.
 *
 * @param sources in the order in which they were received, which is also that of each group
 */
export function groupOverlapping<T extends PositionedItem>(
  sources: readonly ItemSource<T>[],
): (readonly [ItemSource<T>, ...ItemSource<T>[]])[] {
  const ordered = sources.map((source, order) => ({ source, order }))
  ordered.sort((a, b) => compareFirst(a.source, b.source) || a.order - b.order)
  const groups: (typeof ordered)[] = []
  let end: ChainPosition | undefined
  for (const entry of ordered) {
    const { first, last } = entry.source.keyRange ?? ANYWHERE
    if (end !== undefined && compareKeys(first, end) <= 0) groups.at(-1)?.push(entry)
    else groups.push([entry])
    if (end === undefined || compareKeys(last, end) > 0) end = last
  }
  return groups.map((group) => {
    const [first, ...others] = group.sort((a, b) => a.order - b.order).map(({ source }) => source)
    return [first as ItemSource<T>, ...others]
  })
}

const ANYWHERE: NonNullable<ItemSource['keyRange']> = {
  first: { block: Number.NEGATIVE_INFINITY, index: 0, hash: '' },
  last: { block: Number.POSITIVE_INFINITY, index: 0, hash: '' },
}

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
  const reader = new SortedReader(sources)
  let views: T[] = []
  for (let item = reader.next(); item !== undefined; item = reader.next()) {
    const last = views.at(-1)
    if (last !== undefined && compareKeys(last.key, item.key) !== 0) {
      yield views as unknown as TransactionViews<T>
      views = [item]
    } else if (last?.wallet === item.wallet) views[views.length - 1] = item
    else views.push(item)
  }
  if (views.length > 0) yield views as unknown as TransactionViews<T>
}

/** Reads the items of all sources in chain order. A class, because V8 would compile closures again for each merge. */
class SortedReader<T extends PositionedItem> {
  readonly #pending: { source: ItemSource<T>; order: number }[]
  readonly #heap = new TinyQueue<Cursor<T>>([], compareCursors)
  /** Number of loaded sources. */
  #loaded = 0

  constructor(sources: readonly ItemSource<T>[]) {
    this.#pending = sources.map((source, order) => ({ source, order }))
    this.#pending.sort((a, b) => compareFirst(a.source, b.source) || a.order - b.order)
  }

  /** Returns the next item, then undefined. */
  next(): T | undefined {
    this.#loadSources()
    const front = this.#heap.pop()
    if (front === undefined) return undefined
    const { item } = front
    front.at += 1
    const following = front.items[front.at]
    if (following !== undefined) {
      front.item = following
      this.#heap.push(front)
    }
    return item
  }

  /** Loads the sources that may contain an item at or before the next one. */
  #loadSources(): void {
    for (;;) {
      const pending = this.#pending[this.#loaded]
      if (pending === undefined) return
      const front = this.#heap.peek()
      if (front !== undefined && !startsAtOrBefore(pending.source, front.item.key)) return
      this.#loaded += 1
      const items = pending.source.load()
      const [item] = items
      if (item !== undefined) this.#heap.push({ item, items, at: 0, order: pending.order })
    }
  }
}

function compareCursors(a: Cursor<PositionedItem>, b: Cursor<PositionedItem>): number {
  return compareItems(a.item, b.item) || a.order - b.order
}

/** Whether the source may contain an item at or before this position. */
function startsAtOrBefore({ keyRange }: Pick<ItemSource, 'keyRange'>, position: ChainPosition): boolean {
  return keyRange === null || compareKeys(keyRange.first, position) <= 0
}
