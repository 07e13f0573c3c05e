import { ExportError } from '../../../core/model/errors.ts'
import type { ItemKey } from '../../../core/model/item-key.ts'
import type { BlockRange } from '../../../core/model/model.ts'
import { isPageTooLarge } from '../../adaptive-page-size.ts'

/** Checks the order of the pages of one token chain and tracks which blocks are complete. */
export type PageOrderGuard = {
  /**
   * Whether the next page contains complete blocks that no recent page contained: the page before has skipped
   * them. Blocks of recent pages may repeat, as happens when items arrive and tokens count from the newest
   * item.
   */
  hasGap(keys: readonly PageKey[]): boolean
  /**
   * Whether the next page starts within the second in which the last page ended and repeats an item of it:
   * the order within this second may have changed, and other items of it may have been skipped. If the
   * requested range starts with this second, so that requesting it again would be no different, items that
   * repeat the end of the last page in the same order do not count.
   */
  isReordered(keys: readonly PageKey[]): boolean
  /** Adds the next page. Returns false if it contains nothing new: no items, or only items of earlier pages. */
  add(keys: readonly PageKey[]): boolean
  /**
   * The remaining part of the requested range. A listing is sorted by seconds only, so more items may follow
   * in the second in which the last page ended, in any of its blocks. All of them are included; everything
   * before them is complete.
   */
  remainingRange(): BlockRange
  /** Items of that second so far, which a request for the remaining range lists again. */
  repeatedItems(): number
}

type PageKey = Pick<ItemKey, 'block' | 'hash' | 'second'>
type Order = 'asc' | 'desc'

/** Number of recent pages whose blocks may repeat: this many hundreds of items may arrive between two requests. */
const RECENT_PAGES = 10

/**
 * Creates the guard of a token chain over a block range. Internally, blocks and seconds are negated for
 * descending order, so that both orders ascend.
 */
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

/** Number of items at the end of the last page with which the next page starts, in the same order. */
function countOverlap(last: readonly string[], next: readonly string[]): number {
  const tail = last.slice(last.indexOf(next[0] ?? ''))
  return tail.every((hash, at) => hash === next[at]) ? tail.length : 0
}

const NO_BLOCK = Number.NEGATIVE_INFINITY

/** The second in which the last page ended. */
type Frontier = {
  second: number
  /** Blocks of its items, by hash. */
  blocks: Map<string, number>
  /** The lowest of these blocks. */
  first: number
  /** The last complete block. */
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

/**
 * Blocks of earlier seconds are complete, except those beyond a block of the current second: their time and
 * block disagree.
 */
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

/** Maximum number of consecutive pages with nothing new, although each has a token for a next page. */
export const MAX_IDLE_PAGES = 50

/** Maximum number of internal transactions of one transaction: a transfer takes about 7,000 gas, so no block has more. */
const MAX_INTERNALS = 50_000

/** Consecutive pages of a listing with nothing new. */
export type IdlePages = {
  count: number
  /** Internal transactions in pages that continue a transaction: they are indistinguishable from repeated ones. */
  internals: number
}

export const NO_IDLE_PAGES: IdlePages = { count: 0, internals: 0 }

/**
 * Counts one more page with nothing new.
 *
 * @param internals number of internal transactions in the page; 0 in other listings
 * @throws PAGE_MALFORMED if the listing does not end
 */
export function countIdlePage(idle: IdlePages, internals: number, listing: string): IdlePages {
  const counted = {
    count: idle.count + (internals > 0 ? 0 : 1),
    internals: idle.internals + internals,
  }
  if (counted.count === MAX_IDLE_PAGES) throw endlessListingError(listing)
  if (counted.internals > MAX_INTERNALS)
    throw endlessListingError(
      listing,
      `the pages of one transaction contained more than ${MAX_INTERNALS} entries`,
    )
  return counted
}

/** The error for a listing that does not end. */
export function endlessListingError(
  listing: string,
  problem = `the last ${MAX_IDLE_PAGES} pages contained nothing new`,
): ExportError {
  return new ExportError('PAGE_MALFORMED', `${listing}: ${problem}, and each had a nextPageToken`, {
    fix: 'Ask the operator of the service to omit nextPageToken from the last page, or try again later.',
  })
}

/**
 * Maximum number of consecutive restarts without progress. A service may refuse each of its tokens several times
 * before it accepts one, so a few restarts in a row may get no further than earlier ones.
 */
export const MAX_IDLE_RESTARTS = 8

/** Returns undefined if a page token was refused: the service no longer knows it. Rethrows any other error. */
export function ignoreRefusedToken(token: string | undefined): (error: unknown) => undefined {
  return (error) => {
    const isRefused = error instanceof ExportError && error.code === 'REQUEST_REFUSED'
    if (!isRefused || token === undefined || isPageTooLarge(error)) throw error
  }
}
