import TinyQueue from 'tinyqueue'
import { compareKeys } from '../core/item-key.ts'
import { compareFirst, compareItems, type ItemSource, type Place, type WalletItem } from './frame-items.ts'

/** All views of one transaction, by wallet address, each wallet once. */
export type TransactionViews = readonly [WalletItem, ...WalletItem[]]

type Cursor = { item: WalletItem; rest: Iterator<WalletItem>; order: number }

/**
 * Every transaction of the sources with all its views, in chain order. A source is loaded when the merge reaches its
 * first block and let go after its last item, so memory holds only sources that overlap. A wallet's item that was
 * received twice (page borders, resumed ranges) counts once, as it was received last.
 */
export function* mergeItems(sources: readonly ItemSource[]): Generator<TransactionViews, void, void> {
  const next = inOrder(sources)
  let views: WalletItem[] = []
  for (let item = next(); item !== undefined; item = next()) {
    const last = views.at(-1)
    if (last !== undefined && compareKeys(last.key, item.key) !== 0) {
      yield views as unknown as TransactionViews
      views = [item]
    } else if (last?.wallet === item.wallet) views[views.length - 1] = item
    else views.push(item)
  }
  if (views.length > 0) yield views as unknown as TransactionViews
}

/** Gives one item after the other, undefined after the last. */
function inOrder(sources: readonly ItemSource[]): () => WalletItem | undefined {
  const waiting = sources.map((source, order) => ({ source, order }))
  waiting.sort((a, b) => compareFirst(a.source, b.source) || a.order - b.order)
  const heap = new TinyQueue<Cursor>([], (a, b) => compareItems(a.item, b.item) || received(a) - received(b))
  let opened = 0
  const open = ({ source, order }: (typeof waiting)[number]) => {
    const rest = source.load()[Symbol.iterator]()
    const first = rest.next()
    if (!first.done) heap.push({ item: first.value, rest, order })
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
    const following = front.rest.next()
    if (!following.done) {
      front.item = following.value
      heap.push(front)
    }
    return item
  }
}

/** True where the source may hold an item at or before that place. */
function reaches({ span }: ItemSource, place: Place): boolean {
  return span === null || compareKeys(span.first, place) <= 0
}

const received = ({ item, order }: Cursor) => item.received ?? order
