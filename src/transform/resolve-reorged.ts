import { compareKeys, UNKNOWN_INDEX } from '../core/model/item-key.ts'
import type { BlockRange } from '../core/model/model.ts'
import { mayContain } from './batches.ts'
import { findDuplicates, fingerprint, readFingerprints } from './merge/fingerprints.ts'
import type { ChainPosition, ReorgedTransaction } from './merge/page-items.ts'
import {
  openIndexes,
  openStagedSource,
  type StagedContext,
  type StagedPageLocation,
} from './staged/read-staged.ts'
import type { BatchRows, BlockRangeBatch } from './write-batch.ts'

export type ResolvingReorgs = {
  /** All pages, in the order in which they were received. */
  pages: readonly StagedPageLocation[]
  /** Folder of the staging files. */
  folder: string
  /** Writes a batch again. */
  rewrite: (batch: BlockRangeBatch) => Promise<BatchRows>
}

/**
 * Gives every transaction a single chain position. Pages can place a transaction in several blocks if a reorg
 * happened while they were read, or if two listings disagree. Such a transaction moves to its latest position
 * in the preferred view (CONTRACT section 2.4), where the views of all wallets are united, and every batch
 * that contains it is written again.
 *
 * @returns all batches, rewritten or unchanged
 */
export async function resolveReorgedTransactions(
  batches: readonly BatchRows[],
  context: ResolvingReorgs,
): Promise<readonly BatchRows[]> {
  const duplicates = findDuplicates(batches.map(({ hashes }) => hashes))
  if (duplicates.size === 0) return batches
  const containsAny = ({ hashes }: BatchRows, wanted: ReadonlySet<number>) =>
    readFingerprints(hashes).some((print) => wanted.has(print))
  const { reorged, pagesByOffset } = findReorged(
    batches.filter((batch) => containsAny(batch, duplicates)).map(({ range }) => range),
    { ...context, duplicates },
  )
  const wanted = new Set([...reorged.keys()].map(fingerprint))
  const resolved: BatchRows[] = []
  for (const batch of batches) {
    if (!containsAny(batch, wanted)) resolved.push(batch)
    else {
      const { range } = batch
      const pages = context.pages.flatMap(
        (page) => pagesByOffset.get(page.offset) ?? (mayContain(page, range) ? page : []),
      )
      resolved.push(await context.rewrite({ range, pages, reorged }))
    }
  }
  return resolved
}

type ReorgedTransactions = {
  reorged: Map<string, ReorgedTransaction>
  /**
   * By offset, the pages that contain them. `keyRange` is null, because an item may move outside the range of
   * its page.
   */
  pagesByOffset: Map<number, StagedPageLocation>
}

type ReorgSearch = Pick<ResolvingReorgs, 'pages' | 'folder'> & { duplicates: ReadonlySet<number> }

function findReorged(ranges: readonly BlockRange[], search: ReorgSearch): ReorgedTransactions {
  const indexes = openIndexes(search.folder)
  try {
    return reorgedOf(viewsOf(ranges, search, indexes.readIndex))
  } finally {
    indexes.close()
  }
}

/** Returns, by hash, the views of the transactions that may have several chain positions. */
function viewsOf(
  ranges: readonly BlockRange[],
  { pages, duplicates }: ReorgSearch,
  readIndex: StagedContext['readIndex'],
): Map<string, View[]> {
  const range = { from: ranges[0]?.from ?? 0, to: ranges.at(-1)?.to ?? 0 }
  const candidates = pages.filter((location) => ranges.some((range) => mayContain(location, range)))
  const views = new Map<string, View[]>()
  for (const location of candidates.sort((a, b) => a.offset - b.offset)) {
    for (const { wallet, key, page, at } of openStagedSource(location, { readIndex, range }).load()) {
      if (!duplicates.has(fingerprint(key.hash))) continue
      const view = { wallet, key, page: location, isNormalized: page.index.isNormalized[at] === true }
      const existing = views.get(key.hash)
      if (existing === undefined) views.set(key.hash, [view])
      else existing.push(view)
    }
  }
  return views
}

function reorgedOf(views: ReadonlyMap<string, readonly View[]>): ReorgedTransactions {
  const reorged = new Map<string, ReorgedTransaction>()
  const pagesByOffset = new Map<number, StagedPageLocation>()
  for (const [hash, all] of views) {
    if (all.every(({ key }) => compareKeys(key, all[0]?.key ?? key) === 0)) continue
    reorged.set(hash, resolve(all))
    for (const { page: location } of all) pagesByOffset.set(location.offset, { ...location, keyRange: null })
  }
  return { reorged, pagesByOffset }
}

/** `isNormalized`: the view could be normalized. */
type View = { wallet: string; key: ChainPosition; page: StagedPageLocation; isNormalized: boolean }

/**
 * Chooses the position. The newest run wins, then the lowest wallet address; a wallet's latest view replaces
 * its earlier ones. Views that could not be normalized have no rows and are used only if no other view
 * exists.
 */
function resolve(views: readonly View[]): ReorgedTransaction {
  const ascending = [...views].sort((a, b) => runOf(a) - runOf(b) || compareKeys(a.key, b.key))
  const last = new Map(ascending.map((view) => [view.wallet, view]))
  const byWallet = [...last.values()].sort((a, b) => runOf(b) - runOf(a) || (a.wallet < b.wallet ? -1 : 1))
  const { key } = byWallet.find(({ isNormalized }) => isNormalized) ?? (byWallet[0] as View)
  return { key: withKnownIndex(key, views), last: new Map(byWallet.map((view) => [view.wallet, view.key])) }
}

/** The position with the index that another view states, if this one does not. */
function withKnownIndex(key: ChainPosition, views: readonly View[]): ChainPosition {
  if (key.index !== UNKNOWN_INDEX) return key
  const known = views.find((view) => view.key.block === key.block && view.key.index !== UNKNOWN_INDEX)
  return known?.key ?? key
}

const runOf = ({ page }: View): number => page.run ?? 0
