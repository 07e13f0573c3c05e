import { parseBytes } from '../core/byte-text.ts'
import { compareKeys, type ItemKey, itemOfNative, keyOfItem } from '../core/item-key.ts'

/** One wallet's listing item with its place. */
export type WalletItem = {
  key: ItemKey
  wallet: string
  /** Its strings are bytes. */
  item: unknown
  /** Place of its page in the order of receipt; absent where the place of the source says it. */
  received?: number
}

/** What a merge reads: frames of pages (one wallet) or of sorted runs (many). */
export type ItemSource = {
  /** Bytes of the body, for the memory budget. */
  bytes: number
  /** Places that its items lie between; null where no item has a place. */
  span: { first: Place; last: Place } | null
  /** Its items, sorted by place, then wallet; to be gone through once. */
  load(): Iterable<WalletItem>
}

/** A place in the chain, or a border before or after the items of a block. */
export type Place = Pick<ItemKey, 'block' | 'index' | 'hash'>

export type BadItem = { wallet: string; reason: string; item: unknown }

/** The items of one page body in chain order; those without a place are left out. */
export function itemsOfPage({ wallet, body }: { wallet: string; body: Buffer }): WalletItem[] {
  const items: WalletItem[] = []
  for (const item of transactionsIn(parseBytes(body))) {
    const key = keyOfItem(item)
    if (typeof key !== 'string') items.push({ key, wallet, item })
  }
  return sortItems(items)
}

type Page = { transactions: unknown[] }

/** The items of a wallet's page, or those of a list of pages of blocks: of the parsed body, not of its bytes. */
export function transactionsIn(parsed: unknown): unknown[] {
  if (!Array.isArray(parsed)) return (parsed as Page).transactions
  return (parsed as Page[]).flatMap(({ transactions }) => transactions.map(itemOfNative))
}

/** Sorts in place: by block, position and hash, then by wallet; equals keep their order. */
export function sortItems(items: WalletItem[]): WalletItem[] {
  return items.sort(compareItems)
}

export function compareItems(a: WalletItem, b: WalletItem): number {
  return compareKeys(a.key, b.key) || (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0)
}

/** Orders sources by their first place; those without any come first. */
export function compareFirst(a: Pick<ItemSource, 'span'>, b: Pick<ItemSource, 'span'>): number {
  if (a.span === null || b.span === null) return Number(b.span === null) - Number(a.span === null)
  return compareKeys(a.span.first, b.span.first)
}
