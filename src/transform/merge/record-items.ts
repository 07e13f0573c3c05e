import { ExportError } from '../../core/model/errors.ts'
import { compareKeys, type ItemKey } from '../../core/model/item-key.ts'
import { parseBytes } from '../../core/platform/byte-text.ts'
import { parseLimited } from '../../core/platform/check-json-size.ts'
import type { Source } from '../../sources/source.ts'

/** A position in the chain. It may also be a boundary before or after all items of a block. */
export type ChainPosition = Pick<ItemKey, 'block' | 'index' | 'hash'>

/** An entry of one wallet's listing at a position in the chain. */
export type PositionedItem = { key: ChainPosition; wallet: string }

/** An item of one wallet's listing with its position. */
export type WalletItem = PositionedItem & {
  key: ItemKey
  /** Its strings are `ByteText`. */
  item: unknown
  /** Index in the list of its page, from 0. */
  listIndex: number
}

/** An input of a merge: the items of one page. */
export type ItemSource<T extends PositionedItem = WalletItem> = {
  /** Bounds of the positions of its items, both inclusive; null if no item has a position. */
  keyRange: { first: ChainPosition; last: ChainPosition } | null
  /** Returns its items, sorted by position, then wallet. */
  load(): readonly T[]
}

export type BadItem = { wallet: string; reason: string; item: unknown }

/** A page's items in chain order. `entries` also counts the items without a valid position. */
export type PageItems = { items: WalletItem[]; entries: number }

/** A page as stored in a checkpoint. */
export type StoredPage = {
  wallet: string
  body: Buffer
  /** The requested chain. Items of other chains have no valid position. @default any chain */
  chain?: string | undefined
  source: Source
}

/** Parses the items of a page body and omits those without a valid position. */
export function itemsOfPage({ wallet, body, chain, source }: StoredPage): PageItems {
  const listed = storedItems(body, source)
  const keys = listed.map((item) => source.keyOf(item, chain))
  return { items: itemsOf({ wallet, listed, keys }), entries: listed.length }
}

export type KeyedItems = {
  wallet: string
  /** Items in the order of the page. */
  listed: readonly unknown[]
  /** The position of each item, or the reason why it has none. */
  keys: readonly (ItemKey | string)[]
}

/** Returns the items in chain order and omits those without a valid position. */
export function itemsOf({ wallet, listed, keys }: KeyedItems): WalletItem[] {
  const items: WalletItem[] = []
  for (const [at, key] of keys.entries())
    if (typeof key !== 'string') items.push({ key, wallet, item: listed[at], listIndex: at })
  return sortItems(items)
}

/**
 * Returns the items of a page of the checkpoint. Throws PAGE_MALFORMED with the message `DAMAGED_PAGE` if the
 * body is not a page or exceeds the JSON limits.
 */
export function storedItems(
  body: Buffer,
  source: Pick<Source, 'itemsIn'>,
  parse: (body: Buffer) => unknown = parseBytes,
): readonly unknown[] {
  try {
    const listed = source.itemsIn(parseLimited(body, parse))
    if (Array.isArray(listed)) return listed
  } catch (thrown) {
    const isNoPage = [SyntaxError, TypeError, ExportError].some((kind) => thrown instanceof kind)
    if (!isNoPage) throw thrown
  }
  throw new ExportError('PAGE_MALFORMED', DAMAGED_PAGE)
}

/** Yields the items of a page of the checkpoint that have a valid position. Throws like `storedItems`. */
export function* keyedItems(
  body: Buffer,
  source: Pick<Source, 'itemsIn' | 'keyOf'>,
  chain?: string,
): Generator<{ key: ItemKey; item: unknown }, void, void> {
  for (const item of storedItems(body, source)) {
    const key = source.keyOf(item, chain)
    if (typeof key !== 'string') yield { key, item }
  }
}

/** Message of the error for a checkpoint page that no run can read. */
const DAMAGED_PAGE = 'the checkpoint holds a page that cannot be read'

/** Whether an error means that the checkpoint contains a page that no run can read. */
export const isDamagedPage = (thrown: unknown): boolean =>
  thrown instanceof ExportError && thrown.message === DAMAGED_PAGE

/** Whether a body is a page, or a list of block pages. */
export function isPage(body: Buffer, source: Pick<Source, 'itemsIn'>): boolean {
  try {
    storedItems(body, source)
    return true
  } catch (thrown) {
    if (isDamagedPage(thrown)) return false
    throw thrown
  }
}

/** Sorts in place by block, index and hash, then by wallet. The sort is stable. */
export function sortItems<T extends PositionedItem>(items: T[]): T[] {
  return items.sort(compareItems)
}

export function compareItems(a: PositionedItem, b: PositionedItem): number {
  return compareKeys(a.key, b.key) || (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0)
}

/** Orders sources by their first position. Sources without a position come first. */
export function compareFirst(a: Pick<ItemSource, 'keyRange'>, b: Pick<ItemSource, 'keyRange'>): number {
  if (a.keyRange === null || b.keyRange === null)
    return Number(b.keyRange === null) - Number(a.keyRange === null)
  return compareKeys(a.keyRange.first, b.keyRange.first)
}
