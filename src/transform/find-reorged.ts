import { compareKeys, UNKNOWN_INDEX } from '../core/model/item-key.ts'
import { mayContain } from './batches.ts'
import { fingerprint, readFingerprints } from './merge/fingerprints.ts'
import type { ChainPosition, ReorgedTransaction } from './merge/page-items.ts'
import {
  isUsable,
  openStagedSource,
  type StagedContext,
  type StagedPageLocation,
} from './staged/read-staged.ts'
import type { BatchRows } from './write-batch.ts'

export type ReorgedTransactions = {
  /** By hash, the transactions that have several chain positions. */
  reorged: ReadonlyMap<string, ReorgedTransaction>
  /** The offsets of the pages that may contain them. */
  offsets: ReadonlySet<number>
}

type ReorgSearch = Pick<StagedContext, 'readIndex' | 'rejectedTimes'> & {
  /** All pages, in the order in which they were received. */
  pages: readonly StagedPageLocation[]
  /** Fingerprints of the transactions that the batches contain more than once. */
  duplicates: ReadonlySet<number>
}

/**
 * Gives every transaction a single chain position. Pages can place a transaction in several blocks if a reorg
 * happened while they were read, or if two listings disagree. Such a transaction moves to its latest position
 * in the preferred view (CONTRACT section 2.4), where the views of all wallets are united. Only views with rows
 * count; the others stay where they are listed.
 */
export function findReorged(batches: readonly BatchRows[], search: ReorgSearch): ReorgedTransactions {
  const reorged = new Map<string, ReorgedTransaction>()
  const offsets = new Set<number>()
  for (const [hash, views] of viewsOf(batches, search, offsets)) {
    const all = [...views.values()]
    if (all.some(({ key }) => compareKeys(key, all[0]?.key ?? key) !== 0)) reorged.set(hash, resolve(all))
  }
  return { reorged, offsets }
}

/**
 * Returns, by hash, the views of the transactions that may have several chain positions. Of a wallet's items at one
 * position, the last one received counts. The offsets of their pages are added to `offsets`.
 */
function viewsOf(
  batches: readonly BatchRows[],
  { pages, duplicates, readIndex, rejectedTimes }: ReorgSearch,
  offsets: Set<number>,
): Map<string, Map<string, View>> {
  const byHash = new Map<string, Map<string, View>>()
  if (duplicates.size === 0) return byHash
  const ranges = batches
    .filter(({ hashes }) => readFingerprints(hashes).some((print) => duplicates.has(print)))
    .map(({ range }) => range)
  const range = { from: ranges[0]?.from ?? 0, to: ranges.at(-1)?.to ?? 0 }
  const candidates = pages.filter((location) => ranges.some((range) => mayContain(location, range)))
  for (const location of candidates.sort((a, b) => a.offset - b.offset)) {
    for (const item of openStagedSource(location, { readIndex, range }).load()) {
      const { wallet, key } = item
      if (!duplicates.has(fingerprint(key.hash))) continue
      offsets.add(location.offset)
      const views = byHash.get(key.hash) ?? new Map<string, View>()
      byHash.set(key.hash, views)
      const position = `${wallet} ${key.block} ${key.index}`
      if (isUsable(item, rejectedTimes)) views.set(position, { wallet, key, page: location })
      else views.delete(position)
    }
  }
  return byHash
}

type View = { wallet: string; key: ChainPosition; page: StagedPageLocation }

/**
 * Chooses the position. The newest run wins, then the lowest wallet address; a wallet's latest view replaces
 * its earlier ones.
 */
function resolve(views: readonly View[]): ReorgedTransaction {
  const ascending = [...views].sort((a, b) => runOf(a) - runOf(b) || compareKeys(a.key, b.key))
  const last = new Map(ascending.map((view) => [view.wallet, view]))
  const byWallet = [...last.values()].sort((a, b) => runOf(b) - runOf(a) || (a.wallet < b.wallet ? -1 : 1))
  const [{ key }] = byWallet as [View]
  return {
    key: withKnownIndex(key, byWallet),
    last: new Map(byWallet.map((view) => [view.wallet, view.key])),
  }
}

/** The position with the index that another view states, if this one does not. */
function withKnownIndex(key: ChainPosition, views: readonly View[]): ChainPosition {
  if (key.index !== UNKNOWN_INDEX) return key
  const known = views.find((view) => view.key.block === key.block && view.key.index !== UNKNOWN_INDEX)
  return known?.key ?? key
}

const runOf = ({ page }: View): number => page.run ?? 0
