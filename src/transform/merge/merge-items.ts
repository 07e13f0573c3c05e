import TinyQueue from 'tinyqueue'
import { compareKeys } from '../../core/model/item-key.ts'
import { compareFirst, compareItems, type ItemSource, type Place, type Viewed } from './record-items.ts'

/** All views of one transaction, by wallet address, each wallet once. */
export type TransactionViews<T extends Viewed> = readonly [T, ...T[]]

type Cursor<T> = { item: T; items: readonly T[]; at: number; order: number }

/**
 * Every transaction of the sources with all its views, in chain order. A source is loaded when the merge reaches its
 * first block and let go after its last item, so memory holds only sources that overlap. A wallet's item that was
 * received twice (page borders, resumed ranges) counts once, as it was received last.
 */
export function* mergeItems<T extends Viewed>(
  sources: readonly ItemSource<T>[],
): Generator<TransactionViews<T>, void, void> {
  const next = inOrder(sources)
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

/** Gives one item after the other, undefined after the last. */
function inOrder<T extends Viewed>(sources: readonly ItemSource<T>[]): () => T | undefined {
  const waiting = sources.map((source, order) => ({ source, order }))
  waiting.sort((a, b) => compareFirst(a.source, b.source) || a.order - b.order)
  const heap = new TinyQueue<Cursor<T>>([], (a, b) => compareItems(a.item, b.item) || a.order - b.order)
  let opened = 0
  const open = ({ source, order }: (typeof waiting)[number]) => {
    const items = source.load()
    const [item] = items
    if (item !== undefined) heap.push({ item, items, at: 0, order })
  }
  return () => {
    for (let source = waiting[opened]; source !== undefined; source = waiting[opened]) {
      const front = heap.peek()
      if (front !== undefined && !reaches(source.source, front.item.key)) break
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

/** True where the source may hold an item at or before that place. */
function reaches({ span }: Pick<ItemSource, 'span'>, place: Place): boolean {
  return span === null || compareKeys(span.first, place) <= 0
}
