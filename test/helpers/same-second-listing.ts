import { createSeededRandom, type SeededRandom } from './seeded-random.ts'

/** An item with its sort keys. */
export type SortedItem<T = unknown> = { block: number; second: number; hash: string; item: T }

/**
 * Orders of items within one second, which the interface does not define: chain order, reversed, by hash, or random, with a
 * new order per sequence of page tokens or per request.
 */
export const TIE_ORDERS = ['chain order', 'reversed', 'by hash', 'random', 'random per request'] as const
type TieOrder = (typeof TIE_ORDERS)[number]

export type ListingRequest = { from: number; to: number; order: 'asc' | 'desc'; token?: string | undefined }
export type ListingPage<T> = { items: T[]; next: string | undefined }

export type ListingOptions<T> = {
  /** Called at each request, because a listing may grow. */
  items: () => readonly SortedItem<T>[]
  ties: TieOrder
  random: SeededRandom
  /** @default 100 */
  pageSize?: number
  /** Probability that a page token is rejected at its first use. @default 0 */
  refused?: number
}

/** A listing that sorts by second only. A page token is an offset from the start of the requested range. */
export function sameSecondListing<T>(
  options: ListingOptions<T>,
): (request: ListingRequest) => ListingPage<T> | undefined {
  const { items, ties, random, pageSize = 100, refused = 0 } = options
  const seen = new Set<string>()
  const sort = memoize((sorting: Sorting) => sortTied(items(), sorting))
  return ({ from, to, order, token }) => {
    const [first = 0, start = 0] = token?.split('-').map(Number) ?? [random.between(1, 1e9)]
    const position = `${from} ${to} ${order} ${start}`
    if (token !== undefined && !seen.has(position) && seen.add(position) && random.next() < refused)
      return undefined
    const seed = { random: first, 'random per request': random.between(1, 1e9) }[ties as string] ?? 0
    const sorted = sort({ order, ties, seed, count: items().length })
    const inRange = sorted.filter(({ block }) => block >= from && block < to)
    const next = start + pageSize < inRange.length ? `${first}-${start + pageSize}` : undefined
    return { items: inRange.slice(start, start + pageSize).map(({ item }) => item), next }
  }
}

/** Memoizes a function for the last 20 arguments. */
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

type Sorting = { order: 'asc' | 'desc'; ties: TieOrder; seed: number; count: number }

function sortTied<T>(items: readonly SortedItem<T>[], { order, ties, seed }: Sorting): SortedItem<T>[] {
  const sign = order === 'asc' ? 1 : -1
  const random = createSeededRandom(seed)
  const ranked = items.map((item, at) => ({ item, at: sign * at, rank: random.next() }))
  type Ranked = (typeof ranked)[number]
  const compareTies: Record<TieOrder, (a: Ranked, b: Ranked) => number> = {
    'chain order': (a, b) => a.at - b.at,
    reversed: (a, b) => b.at - a.at,
    'by hash': (a, b) => (a.item.hash < b.item.hash ? -1 : 1),
    random: (a, b) => a.rank - b.rank,
    'random per request': (a, b) => a.rank - b.rank,
  }
  const compare = compareTies[ties]
  ranked.sort((a, b) => sign * (a.item.second - b.item.second) || compare(a, b))
  return ranked.map(({ item }) => item)
}

export type GeneratedBlock = { block: number; second: number; items: number }
export type BlockOptions = { blocks: number; random: SeededRandom; maxPerSecond?: number }

/** Ascending blocks, up to `maxPerSecond` of them in one second, with 0 to 5 items each. */
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
