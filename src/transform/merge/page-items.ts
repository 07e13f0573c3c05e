import { ExportError } from '../../core/model/errors.ts'
import { compareKeys, type ItemKey, isAfterCutoff } from '../../core/model/item-key.ts'
import { walletOf } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
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
  } catch (error) {
    const isNoPage = [SyntaxError, TypeError, ExportError].some((kind) => error instanceof kind)
    if (!isNoPage) throw error
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
export const isDamagedPage = (error: unknown): boolean =>
  error instanceof ExportError && error.message === DAMAGED_PAGE

/** Whether a body is a page, or a list of block pages. */
export function isPage(body: Buffer, source: Pick<Source, 'itemsIn'>): boolean {
  try {
    storedItems(body, source)
    return true
  } catch (error) {
    if (isDamagedPage(error)) return false
    throw error
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

/**
 * Location of a page's body in the checkpoint. Structured-cloneable, so that it can be passed to a thread.
 */
export type PageLocation = {
  /** The wallet whose listing the page belongs to; `blocks` for coalesced block pages. */
  wallet: string
  offset: number
  bytes: number
  keyRange: ItemSource['keyRange']
  /** Items from this block on are ignored, because they were read again later. @default all items are used */
  validBefore?: number | undefined
  /** Blocks whose items are ignored, because they were read again later. @default none */
  rereadRanges?: readonly BlockRange[] | undefined
  /** Number of the run that received it. @default 0 */
  run?: number | undefined
}

export type SourceContext = {
  /** Reads a page. */
  readPage: (location: PageLocation) => Buffer
  source: Source
  /** The requested chain. Items of other chains have no valid position. @default any chain */
  chain?: string
  /** Half-open. Items outside are ignored. */
  range: BlockRange
  /** Items that may be newer than this time (milliseconds since 1970) are ignored. */
  cutoffMs: number
}

/** Opens a page as a merge source. Its items are read, parsed and sorted when the merge loads it. */
export function openPageSource(
  location: PageLocation,
  { readPage, source, chain, range, cutoffMs }: SourceContext,
): ItemSource {
  const { wallet, keyRange, validBefore, rereadRanges } = location
  return {
    keyRange,
    load: () => {
      const { items } = itemsOfPage({ wallet, body: readPage(location), chain, source })
      return includedItems(olderThanCutoff(items, cutoffMs), { range, validBefore, rereadRanges })
    },
  }
}

/** Returns the items that are certainly not newer than the cutoff (milliseconds since 1970). */
export const olderThanCutoff = (items: readonly WalletItem[], cutoffMs: number): WalletItem[] =>
  items.filter(({ key }) => !isAfterCutoff(key, cutoffMs))

/** A transaction that the pages place at several chain positions. */
export type ReorgedTransaction = {
  /** The position at which it is exported. */
  key: ChainPosition
  /**
   * By wallet, its latest position in that wallet's listing. Usable items of the wallet at other positions are
   * ignored.
   */
  last: ReadonlyMap<string, ChainPosition>
}

export type ItemFilter = {
  /** Half-open. Items outside are ignored. */
  range: BlockRange
  validBefore?: number | undefined
  rereadRanges?: readonly BlockRange[] | undefined
  /** By hash, transactions that have several chain positions. @default none */
  reorged?: ReadonlyMap<string, ReorgedTransaction> | undefined
}

/**
 * Returns the valid items of a page in a range, in chain order. Items of reorged transactions get their new
 * position.
 *
 * @param isUsable whether an item has rows; one without rows stays where it is listed
 */
export function includedItems<T extends PositionedItem>(
  items: readonly T[],
  { range, validBefore = Number.POSITIVE_INFINITY, rereadRanges = NONE, reorged }: ItemFilter,
  isUsable: (item: T) => boolean = () => true,
): readonly T[] {
  const isInside = ({ key }: PositionedItem) => key.block >= range.from && key.block < range.to
  const isIncluded = ({ key: { block } }: PositionedItem) =>
    block < validBefore && !rereadRanges.some(({ from, to }) => block >= from && block < to)
  if (reorged === undefined) return items.filter((item) => isInside(item) && isIncluded(item))
  const relocated: T[] = []
  for (const item of items.filter(isIncluded)) {
    const target = reorged.get(item.key.hash)
    const last = target?.last.get(item.wallet)
    if (target !== undefined && last !== undefined && compareKeys(last, item.key) === 0)
      relocated.push({ ...item, key: target.key })
    else if (target === undefined || !isUsable(item)) relocated.push(item)
  }
  return sortItems(relocated.filter(isInside))
}

const NONE: readonly BlockRange[] = []

/** Returns the items of a page that have no valid chain position, parsed by `JSON.parse`, with the reason. */
export function badItemsOfPage({ wallet, body, chain, source }: StoredPage): BadItem[] {
  return storedItems(body, source, (bytes) => JSON.parse(bytes.toString('utf8'))).flatMap((item) => {
    const key = source.keyOf(item, chain)
    return typeof key === 'string' ? [{ wallet: walletOf(wallet), reason: key, item }] : []
  })
}
