import { compareKeys, isAfterCutoff } from '../../core/model/item-key.ts'
import { walletOf } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import type { Source } from '../../sources/source.ts'
import {
  type BadItem,
  type ChainPosition,
  type ItemSource,
  itemsOfPage,
  type PositionedItem,
  type StoredPage,
  sortItems,
  storedItems,
  type WalletItem,
} from './record-items.ts'

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
   * By wallet, its latest position in that wallet's listing. Items of the wallet at other positions are
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
 */
export function includedItems<T extends PositionedItem>(
  items: readonly T[],
  { range, validBefore = Number.POSITIVE_INFINITY, rereadRanges = NONE, reorged }: ItemFilter,
): readonly T[] {
  const isInside = ({ key }: PositionedItem) => key.block >= range.from && key.block < range.to
  const isIncluded = ({ key: { block } }: PositionedItem) =>
    block < validBefore && !rereadRanges.some(({ from, to }) => block >= from && block < to)
  if (reorged === undefined) return items.filter((item) => isInside(item) && isIncluded(item))
  const relocated = items.filter(isIncluded).flatMap((item) => toReorgedPosition(item, reorged))
  return sortItems(relocated.filter(isInside))
}

const NONE: readonly BlockRange[] = []

function toReorgedPosition<T extends PositionedItem>(
  item: T,
  reorged: ReadonlyMap<string, ReorgedTransaction>,
): T[] {
  const target = reorged.get(item.key.hash)
  if (target === undefined) return [item]
  const last = target.last.get(item.wallet) ?? item.key
  return compareKeys(last, item.key) === 0 ? [{ ...item, key: target.key }] : []
}

/** Returns the items of a page that have no valid chain position, parsed by `JSON.parse`, with the reason. */
export function badItemsOfPage({ wallet, body, chain, source }: StoredPage): BadItem[] {
  return storedItems(body, source, (bytes) => JSON.parse(bytes.toString('utf8'))).flatMap((item) => {
    const key = source.keyOf(item, chain)
    return typeof key === 'string' ? [{ wallet: walletOf(wallet), reason: key, item }] : []
  })
}
