import { stat } from 'node:fs/promises'
import type { BlockRange } from '../core/model/model.ts'
import { largest, smallest } from '../core/platform/extremes.ts'
import type { Source } from '../sources/source.ts'
import { findDuplicates, fingerprint, readFingerprints } from '../transform/merge/fingerprints.ts'
import { keyedItems } from '../transform/merge/page-items.ts'
import { openReadPages } from './read-pages.ts'
import type { ReadSelection } from './read-results.ts'
import { fingerprintsPath, type RunState, verifiedPath } from './run-state.ts'
import type { ListingPosition, WriteResult } from './write-results.ts'

/**
 * Transactions in several partitions: their number, the listing positions that show them, and for each one
 * the range from its first to its last block.
 */
export type ReorgedInCluster = {
  transactions: number
  positions: readonly ListingPosition[]
  ranges: readonly BlockRange[]
}

/**
 * Finds transactions in several partitions: a reorg happened while pages were read, or the service reports
 * different blocks for two wallets. Fingerprints find candidates, pages confirm them.
 */
export async function findReorged(
  { runState, source }: { runState: RunState; source: Source },
  selection: ReadSelection,
  writes: readonly WriteResult[],
): Promise<ReorgedInCluster> {
  const all = await Promise.all(writes.map((write) => fingerprintsOf(runState, write)))
  const repeated = findDuplicates(all)
  if (repeated.size === 0) return { transactions: 0, positions: [], ranges: [] }
  const affectedWrites = writes.filter((_, at) => containsAny(all[at], repeated))
  const byHash = new Map<string, ListingPosition[]>()
  for await (const { hash, ...position } of viewsIn({
    runState,
    source,
    selection,
    ranges: affectedWrites,
    repeated,
  })) {
    const existing = byHash.get(hash)
    if (existing === undefined) byHash.set(hash, [position])
    else existing.push(position)
  }
  const reorged = [...byHash.values()].filter((views) => views.some(({ block }) => block !== views[0]?.block))
  return { transactions: reorged.length, positions: reorged.flat(), ranges: reorged.map(rangeOf) }
}

function rangeOf(views: readonly ListingPosition[]): BlockRange {
  const blocks = views.map(({ block }) => block)
  return { from: smallest(blocks), to: largest(blocks) + 1 }
}

type Fingerprints = { path: string; bytes: number }

async function fingerprintsOf(
  runState: RunState,
  { token, fingerprints }: WriteResult,
): Promise<Fingerprints> {
  const path = await verifiedPath(runState, fingerprintsPath(token), fingerprints)
  return { path, bytes: (await stat(path)).size }
}

const containsAny = (one: Fingerprints | undefined, searched: ReadonlySet<number>) =>
  one !== undefined && readFingerprints(one).some((print) => searched.has(print))

type ViewQuery = {
  runState: RunState
  source: Source
  selection: ReadSelection
  ranges: readonly BlockRange[]
  repeated: ReadonlySet<number>
}

async function* viewsIn({ runState, source, selection, ranges, repeated }: ViewQuery) {
  const overlaps = (from: number, to: number) => ranges.some((one) => one.from < to && one.to > from)
  for (const read of selection.reads) {
    const { chain, covered } = read
    if (!overlaps(covered.from, covered.to)) continue
    const log = await openReadPages(runState, read)
    const pages = log.read(({ blocks }) => blocks !== null && overlaps(blocks.min, blocks.max + 1))
    for await (const { wallet, body } of pages) {
      for (const { key } of keyedItems(body, source, chain))
        if (repeated.has(fingerprint(key.hash))) yield { hash: key.hash, wallet, block: key.block }
    }
  }
}
