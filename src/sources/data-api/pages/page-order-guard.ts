import type { ItemKey } from '../../../core/model/item-key.ts'
import type { BlockRange } from '../../../core/model/model.ts'

/** What the pages of one chain of tokens have shown so far, one page after the other. */
export type PageOrderGuard = {
  /**
   * Whether the next page shows blocks that count as settled and that no recent page showed: the one before it skipped
   * them. What was shown may come again, as it does where items arrive and tokens count from the newest.
   */
  hasGap(keys: readonly PageKey[]): boolean
  /**
   * Whether the next page begins inside the second in which the last one ended and shows an item of it again: the second may
   * be in another order now, and others of its items may have been skipped. Where this second began what was asked, so that
   * to ask it again would be the same, items that come again just as the last page ended do not count.
   */
  isReordered(keys: readonly PageKey[]): boolean
  /** Takes note of the next page. False where it shows nothing new: no item, or items of earlier pages only. */
  add(keys: readonly PageKey[]): boolean
  /**
   * What is left of the asked range. A listing is sorted by seconds alone, so of the second in which the last page ended
   * more may follow, in any of its blocks, which all are in here; what lies before it is settled.
   */
  remainingRange(): BlockRange
  /** Items of that second so far: a request for the rest lists them again. */
  repeatedItems(): number
}

type PageKey = Pick<ItemKey, 'block' | 'hash' | 'second'>
type Order = 'asc' | 'desc'

/** Pages whose blocks a page may show again: so many times a hundred items may arrive between two requests. */
const RECENT_PAGES = 10

/** Begins a chain of tokens over these blocks. Inside, blocks and seconds have a sign, so that both orders go up. */
export function createPageOrderGuard(order: Order, range: BlockRange): PageOrderGuard {
  const sign = order === 'asc' ? 1 : -1
  const frontier = newFrontier()
  const recent: ReadonlySet<number>[] = []
  let last: readonly string[] = []
  const isComplete = (block: number) => sign * block <= frontier.completeTo
  return {
    hasGap: (keys) => keys.some(({ block }) => isComplete(block) && !recent.some((page) => page.has(block))),
    isReordered: (keys) => {
      if (keys.some(({ second }) => sign * second < frontier.second)) return false
      const hashes = keys.map(({ hash }) => hash)
      const newHashes = frontier.completeTo === NO_BLOCK ? hashes.slice(countOverlap(last, hashes)) : hashes
      return newHashes.some((hash) => frontier.blocks.has(hash))
    },
    add: (keys) => {
      const { completeTo, second, blocks } = frontier
      const before = blocks.size
      advanceFrontier(
        frontier,
        keys.map(({ block, hash, second }) => ({ block: sign * block, hash, second: sign * second })),
      )
      last = keys.map(({ hash }) => hash)
      recent.push(new Set(keys.map(({ block }) => block)))
      if (recent.length > RECENT_PAGES) recent.shift()
      return frontier.completeTo !== completeTo || frontier.second !== second || frontier.blocks.size > before
    },
    remainingRange: () => {
      if (frontier.completeTo === NO_BLOCK) return range
      return order === 'asc'
        ? { from: frontier.completeTo + 1, to: range.to }
        : { from: range.from, to: -frontier.completeTo }
    },
    repeatedItems: () => frontier.blocks.size,
  }
}

/** How many items at the end of the last page are the first of the next, in the same order. */
function countOverlap(last: readonly string[], next: readonly string[]): number {
  const tail = last.slice(last.indexOf(next[0] ?? ''))
  return tail.every((hash, at) => hash === next[at]) ? tail.length : 0
}

const NO_BLOCK = Number.NEGATIVE_INFINITY

/** The second in which the last page ended. */
type Frontier = {
  second: number
  /** Block of each of its items, by hash. */
  blocks: Map<string, number>
  /** The first of these blocks. */
  first: number
  /** The last block of which all has been shown. */
  completeTo: number
}

function newFrontier(): Frontier {
  return {
    second: Number.NEGATIVE_INFINITY,
    blocks: new Map(),
    first: Number.POSITIVE_INFINITY,
    completeTo: NO_BLOCK,
  }
}

/** Blocks of earlier seconds are settled, but none that lies beyond a block of this one: then time and block disagree. */
function advanceFrontier(frontier: Frontier, keys: readonly PageKey[]): void {
  const previous: number[] = []
  for (const { block, hash, second } of keys) {
    if (second > frontier.second) {
      for (const passedBlock of frontier.blocks.values()) previous.push(passedBlock)
      frontier.second = second
      frontier.blocks = new Map()
      frontier.first = Number.POSITIVE_INFINITY
    }
    if (second < frontier.second) previous.push(block)
    else {
      frontier.blocks.set(hash, block)
      frontier.first = Math.min(frontier.first, block)
    }
  }
  for (const block of previous)
    if (block < frontier.first) frontier.completeTo = Math.max(frontier.completeTo, block)
}
