import { compareKeys, isYounger } from '../../core/model/item-key.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { keyOfItem } from '../../sources/data-api/parse-item-key.ts'
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

/** Where a page's body lies in the checkpoint; plain values, so that it can be handed to another thread. */
export type PageLocation = {
  /** Whose page it is. */
  wallet: string
  offset: number
  bytes: number
  keyRange: ItemSource['keyRange']
  /** Items from this block on do not count: they were read again since. Absent: all count. */
  validBefore?: number | undefined
  /** Blocks whose items do not count: they were read again since. @default none */
  rereadRanges?: readonly BlockRange[] | undefined
  /** Number of the run that received it. @default 0 */
  run?: number | undefined
}

export type SourceContext = {
  /** Reads a page. */
  readPage: (location: PageLocation) => Buffer
  /** The chain that was asked for: items of others have no place. @default any */
  chain?: string
  /** Half-open; items outside are left out. */
  range: BlockRange
  /** Items that may be younger than this, in milliseconds since 1970, are left out. */
  cutoffMs: number
}

/** Makes a page a source: its items are read, parsed and sorted when the merge asks for them. */
export function openPageSource(
  location: PageLocation,
  { readPage, chain, range, cutoffMs }: SourceContext,
): ItemSource {
  const { wallet, keyRange, validBefore, rereadRanges } = location
  return {
    keyRange,
    load: () => {
      const { items } = itemsOfPage({ wallet, body: readPage(location), chain })
      return includedItems(olderThanCutoff(items, cutoffMs), { range, validBefore, rereadRanges })
    },
  }
}

/** Items that are surely not younger than `cutMs`, in milliseconds since 1970. */
export const olderThanCutoff = (items: readonly WalletItem[], cutoffMs: number): WalletItem[] =>
  items.filter(({ key }) => !isYounger(key, cutoffMs))

export type ReorgedTransaction = {
  /** Where it belongs. */
  key: ChainPosition
  /** Where each wallet's listing has it last: what stands elsewhere in that listing does not count. */
  last: ReadonlyMap<string, ChainPosition>
}

export type ItemFilter = {
  /** Half-open; items outside are left out. */
  range: BlockRange
  validBefore?: number | undefined
  rereadRanges?: readonly BlockRange[] | undefined
  /** By hash, transactions that stand in several places. @default none does */
  reorged?: ReadonlyMap<string, ReorgedTransaction> | undefined
}

/** Those of a page's items that count in a range, each where it belongs, in chain order. */
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

/** The items of a page that have no place in the chain, as JSON has them, with the reason. */
export function badItemsOfPage({ wallet, body, chain }: StoredPage): BadItem[] {
  return storedItems(body, (bytes) => JSON.parse(bytes.toString('utf8'))).flatMap((item) => {
    const key = keyOfItem(item, chain)
    return typeof key === 'string' ? [{ wallet, reason: key, item }] : []
  })
}
