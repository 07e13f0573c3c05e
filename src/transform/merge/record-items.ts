import { ExportError } from '../../core/model/errors.ts'
import { compareKeys, type ItemKey } from '../../core/model/item-key.ts'
import { parseBytes } from '../../core/platform/byte-text.ts'
import { checkJsonSize } from '../../core/platform/check-json-size.ts'
import { itemFromNative, keyOfItem } from '../../sources/data-api/parse-item-key.ts'

/** A place in the chain, or a border before or after the items of a block. */
export type ChainPosition = Pick<ItemKey, 'block' | 'index' | 'hash'>

/** What one wallet's listing has at a place in the chain. */
export type PositionedItem = { key: ChainPosition; wallet: string }

/** One wallet's listing item with its place. */
export type WalletItem = PositionedItem & {
  key: ItemKey
  /** Its strings are bytes. */
  item: unknown
  /** Its place in the page's list, from 0. */
  listIndex: number
}

/** What a merge reads: the items of one page. */
export type ItemSource<T extends PositionedItem = WalletItem> = {
  /** Places that its items lie between; null where no item has a place. */
  keyRange: { first: ChainPosition; last: ChainPosition } | null
  /** Its items, sorted by place, then wallet. */
  load(): readonly T[]
}

export type BadItem = { wallet: string; reason: string; item: unknown }

/** A page's items in chain order, and how many its list has, those without a place too. */
export type PageItems = { items: WalletItem[]; entries: number }

/** A page as it lies in a checkpoint. */
export type StoredPage = {
  wallet: string
  body: Buffer
  /** The chain that was asked for: items of others have no place. @default any */
  chain?: string | undefined
}

/** The items of one page body; those without a place are left out. */
export function itemsOfPage({ wallet, body, chain }: StoredPage): PageItems {
  const listed = storedItems(body)
  const keys = listed.map((item) => keyOfItem(item, chain))
  return { items: itemsOf({ wallet, listed, keys }), entries: listed.length }
}

export type KeyedItems = {
  wallet: string
  /** Items in the order of their page. */
  listed: readonly unknown[]
  /** The place of each, or the reason why it has none. */
  keys: readonly (ItemKey | string)[]
}

/** Items in chain order; those without a place are left out. */
export function itemsOf({ wallet, listed, keys }: KeyedItems): WalletItem[] {
  const items: WalletItem[] = []
  for (const [at, key] of keys.entries())
    if (typeof key !== 'string') items.push({ key, wallet, item: listed[at], listIndex: at })
  return sortItems(items)
}

type Page = { transactions: unknown[] }

/** The items of a page of the checkpoint. Throws `DAMAGED_PAGE` where it is no page, or exceeds the limits of one. */
export function storedItems(body: Buffer, parse: (body: Buffer) => unknown = parseBytes): unknown[] {
  try {
    checkJsonSize(body)
    const listed = transactionsIn(parse(body))
    if (Array.isArray(listed)) return listed
  } catch (thrown) {
    const isNoPage = [SyntaxError, TypeError, ExportError].some((kind) => thrown instanceof kind)
    if (!isNoPage) throw thrown
  }
  throw new ExportError('PAGE_MALFORMED', DAMAGED_PAGE)
}

/** What an error says of a page of the checkpoint that no run can read. */
const DAMAGED_PAGE = 'the checkpoint holds a page that cannot be read'

/** Whether work failed since the checkpoint holds a page that no run can read. */
export const isDamagedPage = (thrown: unknown): boolean =>
  thrown instanceof ExportError && thrown.message === DAMAGED_PAGE

/** Whether bytes are a page of the checkpoint, or a list of pages of blocks. */
export function isPage(body: Buffer): boolean {
  try {
    storedItems(body)
    return true
  } catch (thrown) {
    if (isDamagedPage(thrown)) return false
    throw thrown
  }
}

/** The items of a wallet's page, or those of a list of pages of blocks: of the parsed body, not of its bytes. */
function transactionsIn(parsed: unknown): unknown[] {
  if (!Array.isArray(parsed)) return (parsed as Page).transactions
  return (parsed as Page[]).flatMap(({ transactions }) => transactions.map(itemFromNative))
}

/** Sorts in place: by block, position and hash, then by wallet; equals keep their order. */
export function sortItems<T extends PositionedItem>(items: T[]): T[] {
  return items.sort(compareItems)
}

export function compareItems(a: PositionedItem, b: PositionedItem): number {
  return compareKeys(a.key, b.key) || (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0)
}

/** Orders sources by their first place; those without any come first. */
export function compareFirst(a: Pick<ItemSource, 'keyRange'>, b: Pick<ItemSource, 'keyRange'>): number {
  if (a.keyRange === null || b.keyRange === null)
    return Number(b.keyRange === null) - Number(a.keyRange === null)
  return compareKeys(a.keyRange.first, b.keyRange.first)
}
