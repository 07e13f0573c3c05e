import { createDice, type Dice } from './seeded-random.ts'

/** An item with what a listing sorts it by. */
export type Tied<T = unknown> = { block: number; second: number; hash: string; item: T }

/**
 * How a listing orders items of one second, which the interface leaves open: as the chain has them, the other way round, by
 * hash, or by lot, once for each chain of tokens or for each request.
 */
export const TIES = [
  'as in the chain',
  'the other way round',
  'by hash',
  'by lot',
  'by lot each time',
] as const
type Ties = (typeof TIES)[number]

export type TiedAsk = { from: number; to: number; order: 'asc' | 'desc'; token?: string | undefined }
export type TiedPage<T> = { items: T[]; next: string | undefined }

export type TiedOptions<T> = {
  /** Asked anew at each request: a listing may grow. */
  items: () => readonly Tied<T>[]
  ties: Ties
  dice: Dice
  /** @default 100 */
  pageSize?: number
  /** How likely it is that a token is refused when it comes for the first time. @default 0 */
  refused?: number
}

/** A listing that sorts by second alone. Tokens tell where to go on, counted from the beginning of what was asked. */
export function tiedListing<T>(options: TiedOptions<T>): (ask: TiedAsk) => TiedPage<T> | undefined {
  const { items, ties, dice, pageSize = 100, refused = 0 } = options
  const seen = new Set<string>()
  const sort = remembered((sorting: Sorting) => sortTied(items(), sorting))
  return ({ from, to, order, token }) => {
    const [first = 0, start = 0] = token?.split('-').map(Number) ?? [dice.between(1, 1e9)]
    const place = `${from} ${to} ${order} ${start}`
    if (token !== undefined && !seen.has(place) && seen.add(place) && dice.next() < refused) return undefined
    const lot = { 'by lot': first, 'by lot each time': dice.between(1, 1e9) }[ties as string] ?? 0
    const sorted = sort({ order, ties, lot, count: items().length })
    const asked = sorted.filter(({ block }) => block >= from && block < to)
    const next = start + pageSize < asked.length ? `${first}-${start + pageSize}` : undefined
    return { items: asked.slice(start, start + pageSize).map(({ item }) => item), next }
  }
}

/** The same, but what it gave for the last few arguments is not made again. */
function remembered<A, R>(make: (given: A) => R): (given: A) => R {
  const made = new Map<string, R>()
  return (given) => {
    const key = JSON.stringify(given)
    const known = made.get(key) ?? make(given)
    made.delete(key)
    made.set(key, known)
    if (made.size > 20) made.delete(made.keys().next().value ?? '')
    return known
  }
}

type Sorting = { order: 'asc' | 'desc'; ties: Ties; lot: number; count: number }

function sortTied<T>(items: readonly Tied<T>[], { order, ties, lot }: Sorting): Tied<T>[] {
  const sign = order === 'asc' ? 1 : -1
  const dice = createDice(lot)
  const ranked = items.map((item, at) => ({ item, at: sign * at, lot: dice.next() }))
  type Ranked = (typeof ranked)[number]
  const compareTies: Record<Ties, (a: Ranked, b: Ranked) => number> = {
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

export type TiedBlock = { block: number; second: number; items: number }
export type Growth = { blocks: number; dice: Dice; most?: number }

/** Rising blocks with up to so many to a second and none to a few items each. */
export function tiedBlocks({
  blocks,
  dice,
  most = 8,
}: Growth): { block: number; second: number; items: number }[] {
  let [second, left] = [1_700_000_000, dice.between(1, most)]
  return Array.from({ length: blocks }, (_, block) => {
    if (left === 0) {
      second += dice.between(1, 3)
      left = dice.between(1, most)
    }
    left -= 1
    return { block, second, items: dice.pick([0, 1, 1, 2, 5]) }
  })
}
