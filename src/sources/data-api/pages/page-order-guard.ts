import type { ItemKey } from '../../../core/model/item-key.ts'
import type { BlockRange } from '../../../core/model/model.ts'

/** What the pages of one chain of tokens have shown so far, one page after the other. */
export type ShownItems = {
  /**
   * Whether the next page shows blocks that count as settled and that no recent page showed: the one before it skipped
   * them. What was shown may come again, as it does where items arrive and tokens count from the newest.
   */
  wereSkipped(keys: readonly ShownKey[]): boolean
  /**
   * Whether the next page begins inside the second in which the last one ended and shows an item of it again: the second may
   * be in another order now, and others of its items may have been skipped. Where this second began what was asked, so that
   * to ask it again would be the same, items that come again just as the last page ended do not count.
   */
  isReordered(keys: readonly ShownKey[]): boolean
  /** Takes note of the next page. False where it shows nothing new: no item, or items of earlier pages only. */
  add(keys: readonly ShownKey[]): boolean
  /**
   * What is left of the asked range. A listing is sorted by seconds alone, so of the second in which the last page ended
   * more may follow, in any of its blocks, which all are in here; what lies before it is settled.
   */
  rest(): BlockRange
  /** Items of that second so far: a request for the rest lists them again. */
  repeats(): number
}

type ShownKey = Pick<ItemKey, 'block' | 'hash' | 'second'>
type Order = 'asc' | 'desc'

/** Pages whose blocks a page may show again: so many times a hundred items may arrive between two requests. */
const RECENT_PAGES = 10

/** Begins a chain of tokens over these blocks. Inside, blocks and seconds have a sign, so that both orders go up. */
export function createShownItems(order: Order, asked: BlockRange): ShownItems {
  const sign = order === 'asc' ? 1 : -1
  const edge = openEdge()
  const recent: ReadonlySet<number>[] = []
  let last: readonly string[] = []
  const isSettled = (block: number) => sign * block <= edge.settled
  return {
    wereSkipped: (keys) =>
      keys.some(({ block }) => isSettled(block) && !recent.some((page) => page.has(block))),
    isReordered: (keys) => {
      if (keys.some(({ second }) => sign * second < edge.second)) return false
      const hashes = keys.map(({ hash }) => hash)
      const fresh = edge.settled === NOTHING ? hashes.slice(countOverlap(last, hashes)) : hashes
      return fresh.some((hash) => edge.blocks.has(hash))
    },
    add: (keys) => {
      const { settled, second, blocks } = edge
      const before = blocks.size
      moveEdge(
        edge,
        keys.map(({ block, hash, second }) => ({ block: sign * block, hash, second: sign * second })),
      )
      last = keys.map(({ hash }) => hash)
      recent.push(new Set(keys.map(({ block }) => block)))
      if (recent.length > RECENT_PAGES) recent.shift()
      return edge.settled !== settled || edge.second !== second || edge.blocks.size > before
    },
    rest: () => {
      if (edge.settled === NOTHING) return asked
      return order === 'asc'
        ? { from: edge.settled + 1, to: asked.to }
        : { from: asked.from, to: -edge.settled }
    },
    repeats: () => edge.blocks.size,
  }
}

/** How many items at the end of the last page are the first of the next, in the same order. */
function countOverlap(last: readonly string[], next: readonly string[]): number {
  const tail = last.slice(last.indexOf(next[0] ?? ''))
  return tail.every((hash, at) => hash === next[at]) ? tail.length : 0
}

const NOTHING = Number.NEGATIVE_INFINITY

/** The second in which the last page ended. */
type Edge = {
  second: number
  /** Block of each of its items, by hash. */
  blocks: Map<string, number>
  /** The first of these blocks. */
  first: number
  /** The last block of which all has been shown. */
  settled: number
}

function openEdge(): Edge {
  return {
    second: Number.NEGATIVE_INFINITY,
    blocks: new Map(),
    first: Number.POSITIVE_INFINITY,
    settled: NOTHING,
  }
}

/** Blocks of earlier seconds are settled, but none that lies beyond a block of this one: then time and block disagree. */
function moveEdge(edge: Edge, keys: readonly ShownKey[]): void {
  const earlier: number[] = []
  for (const { block, hash, second } of keys) {
    if (second > edge.second) {
      for (const passed of edge.blocks.values()) earlier.push(passed)
      edge.second = second
      edge.blocks = new Map()
      edge.first = Number.POSITIVE_INFINITY
    }
    if (second < edge.second) earlier.push(block)
    else {
      edge.blocks.set(hash, block)
      edge.first = Math.min(edge.first, block)
    }
  }
  for (const block of earlier) if (block < edge.first) edge.settled = Math.max(edge.settled, block)
}
