import { compareKeys, isYounger } from '../../core/model/item-key.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { keyOfItem } from '../../sources/data-api/parse-item-key.ts'
import {
  type BadItem,
  type ItemSource,
  itemsOfPage,
  type Place,
  type StoredPage,
  sortItems,
  storedItems,
  type Viewed,
  type WalletItem,
} from './record-items.ts'

/** Where a page's body lies in the checkpoint; plain values, so that it can be handed to another thread. */
export type PagePlace = {
  /** Whose page it is. */
  wallet: string
  offset: number
  bytes: number
  span: ItemSource['span']
  /** Items from this block on do not count: they were read again since. Absent: all count. */
  until?: number | undefined
  /** Blocks whose items do not count: they were read again since. @default none */
  replaced?: readonly BlockRange[] | undefined
  /** Number of the run that received it. @default 0 */
  run?: number | undefined
}

export type SourceContext = {
  /** Reads a page. */
  read: (place: PagePlace) => Buffer
  /** The chain that was asked for: items of others have no place. @default any */
  chain?: string
  /** Half-open; items outside are left out. */
  range: BlockRange
  /** Items that may be younger than this, in milliseconds since 1970, are left out. */
  cutMs: number
}

/** Makes a page a source: its items are read, parsed and sorted when the merge asks for them. */
export function openSource(place: PagePlace, { read, chain, range, cutMs }: SourceContext): ItemSource {
  const { wallet, span, until, replaced } = place
  return {
    span,
    load: () => {
      const { items } = itemsOfPage({ wallet, body: read(place), chain })
      return countedItems(old(items, cutMs), { range, until, replaced })
    },
  }
}

/** Items that are surely not younger than `cutMs`, in milliseconds since 1970. */
export const old = (items: readonly WalletItem[], cutMs: number): WalletItem[] =>
  items.filter(({ key }) => !isYounger(key, cutMs))

export type MovedTransaction = {
  /** Where it belongs. */
  key: Place
  /** Where each wallet's listing has it last: what stands elsewhere in that listing does not count. */
  last: ReadonlyMap<string, Place>
}

export type Counting = {
  /** Half-open; items outside are left out. */
  range: BlockRange
  until?: number | undefined
  replaced?: readonly BlockRange[] | undefined
  /** By hash, transactions that stand in several places. @default none does */
  moved?: ReadonlyMap<string, MovedTransaction> | undefined
}

/** Those of a page's items that count in a range, each where it belongs, in chain order. */
export function countedItems<T extends Viewed>(
  items: readonly T[],
  { range, until = Number.POSITIVE_INFINITY, replaced = NONE, moved }: Counting,
): readonly T[] {
  const isInside = ({ key }: Viewed) => key.block >= range.from && key.block < range.to
  const counts = ({ key: { block } }: Viewed) =>
    block < until && !replaced.some(({ from, to }) => block >= from && block < to)
  if (moved === undefined) return items.filter((item) => isInside(item) && counts(item))
  const inPlace = items.filter(counts).flatMap((item) => settled(item, moved))
  return sortItems(inPlace.filter(isInside))
}

const NONE: readonly BlockRange[] = []

function settled<T extends Viewed>(item: T, moved: ReadonlyMap<string, MovedTransaction>): T[] {
  const to = moved.get(item.key.hash)
  if (to === undefined) return [item]
  const last = to.last.get(item.wallet) ?? item.key
  return compareKeys(last, item.key) === 0 ? [{ ...item, key: to.key }] : []
}

/** The items of a page that have no place in the chain, as JSON has them, with the reason. */
export function badItemsOfPage({ wallet, body, chain }: StoredPage): BadItem[] {
  return storedItems(body, (bytes) => JSON.parse(bytes.toString('utf8'))).flatMap((item) => {
    const key = keyOfItem(item, chain)
    return typeof key === 'string' ? [{ wallet, reason: key, item }] : []
  })
}
