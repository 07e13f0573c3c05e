import { chainIdOf } from '../core/model/chains.ts'
import { endOfExport, type Manifest } from '../core/model/manifest.ts'
import { incompleteWallets } from '../core/model/run-stats.ts'
import { smallest } from '../core/platform/extremes.ts'
import { type DataCollection, missingBlocks } from './data-collection.ts'
import type { Overview } from './overview.ts'

/** An export of a page: what it contains, and how it was collected. */
export type ExportFacts = {
  chain: string
  manifest: Manifest
  data: DataCollection
  /** Only of exports without a ledger. */
  overview: Overview | undefined
}

/** The block range that was read for any wallet; `to` is exclusive. */
export function rangeOf(manifest: Manifest): { from: number; to: number } {
  const { coverage, blocks } = manifest
  const starts = (blocks === undefined ? coverage : [blocks]).map(({ fromBlock }) => fromBlock)
  return { from: smallest(starts), to: blocks?.toBlock ?? endOfExport(manifest) }
}

/** What exports lack. */
export type Gaps = { rejects: number; missingBlocks: number; wallets: number }

export function gapsOf(exports: readonly ExportFacts[]): Gaps {
  const sum = (count: (manifest: Manifest) => number) =>
    exports.reduce((all, { manifest }) => all + count(manifest), 0)
  return {
    rejects: sum(({ rejects }) => rejects),
    missingBlocks: sum(missingBlocks),
    wallets: sum(
      (manifest) =>
        new Set([
          ...incompleteWallets(manifest).map(({ address }) => address),
          ...manifest.coverage.flatMap(({ address, error }) => (error === undefined ? [] : [address])),
        ]).size,
    ),
  }
}

export const factsOf = (manifest: Manifest, data: DataCollection, overview?: Overview): ExportFacts => ({
  chain: chainIdOf(manifest.job.chain),
  manifest,
  data,
  overview,
})
