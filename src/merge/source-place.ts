import { compareKeys, type ItemKey, isYounger, keyOfItem } from '../core/item-key.ts'
import type { BlockRange } from '../core/model.ts'
import {
  type BadItem,
  type ItemSource,
  itemsOfPage,
  sortItems,
  transactionsIn,
  type WalletItem,
} from './frame-items.ts'

/** Where a source's body lies; plain values, so that it can be handed to another thread. */
export type SourcePlace = {
  /** Whose page it is; null for a sorted run of many wallets. */
  wallet: string | null
  offset: number
  bytes: number
  span: ItemSource['span']
  /** Items from this block on do not count: they were read again since. Absent: all count. */
  until?: number | undefined
}

export type SourceContext = {
  /** Reads a stretch of the pages' file, or of the runs' file. */
  read: (place: SourcePlace) => Buffer
  /** Half-open; items outside are left out. */
  range: BlockRange
  /** Items that may be younger than this, in milliseconds since 1970, are left out. */
  cutMs: number
  /** By hash, transactions that stand in several places. @default none does */
  moved?: ReadonlyMap<string, MovedTransaction>
}

export type MovedTransaction = {
  /** Where it belongs. */
  key: ItemKey
  /** Where each wallet's listing has it last: what stands elsewhere in that listing does not count. */
  last: ReadonlyMap<string, ItemKey>
}

/** Makes a place a source: its items are read, parsed and sorted when the merge asks for them. */
export function openSource(place: SourcePlace, { read, range, cutMs, moved }: SourceContext): ItemSource {
  const { wallet, bytes, span, until = Number.POSITIVE_INFINITY } = place
  const counts = ({ key }: WalletItem) => key.block < until && !isYounger(key, cutMs)
  const isInside = ({ key }: WalletItem) => key.block >= range.from && key.block < range.to
  return {
    bytes,
    span,
    load: () => {
      const items = wallet === null ? itemsOfRun(read(place)) : itemsOfPage({ wallet, body: read(place) })
      if (moved === undefined) return those(items, (item) => isInside(item) && counts(item))
      const inPlace = [...those(items, counts)].flatMap((item) => settled(item, moved))
      return sortItems(inPlace.filter(isInside))
    },
  }
}

function settled(item: WalletItem, moved: ReadonlyMap<string, MovedTransaction>): WalletItem[] {
  const to = moved.get(item.key.hash)
  if (to === undefined) return [item]
  const last = to.last.get(item.wallet) ?? item.key
  return compareKeys(last, item.key) === 0 ? [{ ...item, key: to.key }] : []
}

/** A merge has many runs open at once: an item is a line of its own, and parsed when its turn comes. */
function itemsOfRun(body: Buffer): Iterable<WalletItem> {
  return linesOf(body.toString('latin1'))
}

function* linesOf(text: string): Generator<WalletItem, void, void> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    yield JSON.parse(text.slice(at, end)) as WalletItem
    at = end + 1
  }
}

function those(items: Iterable<WalletItem>, are: (item: WalletItem) => boolean): Iterable<WalletItem> {
  return Array.isArray(items) ? items.filter(are) : inTurn(items, are)
}

function* inTurn(
  items: Iterable<WalletItem>,
  are: (item: WalletItem) => boolean,
): Generator<WalletItem, void, void> {
  for (const item of items) if (are(item)) yield item
}

/** The items of a page that have no place in the chain, as JSON has them, with the reason. */
export function badItemsOfPage({ wallet, body }: { wallet: string; body: Buffer }): BadItem[] {
  return transactionsIn(JSON.parse(body.toString('utf8'))).flatMap((item) => {
    const key = keyOfItem(item)
    return typeof key === 'string' ? [{ wallet, reason: key, item }] : []
  })
}
