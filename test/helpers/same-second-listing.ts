import { createSeededRandom, type SeededRandom } from './seeded-random.ts'

/** An item with what a listing sorts it by. */
export type SortedItem<T = unknown> = { block: number; second: number; hash: string; item: T }

/**
 * How a listing orders items of one second, which the interface leaves open: as the chain has them, the other way round, by
 * hash, or by lot, once for each chain of tokens or for each request.
 */
export const TIE_ORDERS = [
  'as in the chain',
  'the other way round',
  'by hash',
  'by lot',
  'by lot each time',
] as const
type TieOrder = (typeof TIE_ORDERS)[number]

export type ListingRequest = { from: number; to: number; order: 'asc' | 'desc'; token?: string | undefined }
export type ListingPage<T> = { items: T[]; next: string | undefined }

export type ListingOptions<T> = {
  /** Asked anew at each request: a listing may grow. */
  items: () => readonly SortedItem<T>[]
  ties: TieOrder
  random: SeededRandom
  /** @default 100 */
  pageSize?: number
  /** How likely it is that a token is refused when it comes for the first time. @default 0 */
  refused?: number
}

/** A listing that sorts by second alone. Tokens tell where to go on, counted from the beginning of what was asked. */
export function sameSecondListing<T>(
  options: ListingOptions<T>,
): (ask: ListingRequest) => ListingPage<T> | undefined {
  const { items, ties, random, pageSize = 100, refused = 0 } = options
  const seen = new Set<string>()
  const sort = memoize((sorting: Sorting) => sortTied(items(), sorting))
  return ({ from, to, order, token }) => {
    const [first = 0, start = 0] = token?.split('-').map(Number) ?? [random.between(1, 1e9)]
    const position = `${from} ${to} ${order} ${start}`
    if (token !== undefined && !seen.has(position) && seen.add(position) && random.next() < refused)
      return undefined
    const lot = { 'by lot': first, 'by lot each time': random.between(1, 1e9) }[ties as string] ?? 0
    const sorted = sort({ order, ties, lot, count: items().length })
    const inRange = sorted.filter(({ block }) => block >= from && block < to)
    const next = start + pageSize < inRange.length ? `${first}-${start + pageSize}` : undefined
    return { items: inRange.slice(start, start + pageSize).map(({ item }) => item), next }
  }
}

/** The same, but what it gave for the last few arguments is not made again. */
function memoize<A, R>(compute: (argument: A) => R): (argument: A) => R {
  const cache = new Map<string, R>()
  return (argument) => {
    const key = JSON.stringify(argument)
    const value = cache.get(key) ?? compute(argument)
    cache.delete(key)
    cache.set(key, value)
    if (cache.size > 20) cache.delete(cache.keys().next().value ?? '')
    return value
  }
}

type Sorting = { order: 'asc' | 'desc'; ties: TieOrder; lot: number; count: number }

function sortTied<T>(items: readonly SortedItem<T>[], { order, ties, lot }: Sorting): SortedItem<T>[] {
  const sign = order === 'asc' ? 1 : -1
  const random = createSeededRandom(lot)
  const ranked = items.map((item, at) => ({ item, at: sign * at, lot: random.next() }))
  type Ranked = (typeof ranked)[number]
  const compareTies: Record<TieOrder, (a: Ranked, b: Ranked) => number> = {
    'as in the chain': (a, b) => a.at - b.at,
    'the other way round': (a, b) => b.at - a.at,
    'by hash': (a, b) => (a.item.hash < b.item.hash ? -1 : 1),
    'by lot': (a, b) => a.lot - b.lot,
    'by lot each time': (a, b) => a.lot - b.lot,
  }
  const compare = compareTies[ties]
  ranked.sort((a, b) => sign * (a.item.second - b.item.second) || compare(a, b))
  return ranked.map(({ item }) => item)
}

export type GeneratedBlock = { block: number; second: number; items: number }
export type BlockOptions = { blocks: number; random: SeededRandom; maxPerSecond?: number }

/** Rising blocks with up to so many to a second and none to a few items each. */
export function sameSecondBlocks({
  blocks,
  random,
  maxPerSecond = 8,
}: BlockOptions): { block: number; second: number; items: number }[] {
  let [second, remainingInSecond] = [1_700_000_000, random.between(1, maxPerSecond)]
  return Array.from({ length: blocks }, (_, block) => {
    if (remainingInSecond === 0) {
      second += random.between(1, 3)
      remainingInSecond = random.between(1, maxPerSecond)
    }
    remainingInSecond -= 1
    return { block, second, items: random.pick([0, 1, 1, 2, 5]) }
  })
}
