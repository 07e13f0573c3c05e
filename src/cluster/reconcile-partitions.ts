import { stat } from 'node:fs/promises'
import type { BlockRange } from '../core/model/model.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { largest, smallest } from '../core/platform/extremes.ts'
import { sourceOf } from '../sources/index.ts'
import type { Source } from '../sources/source.ts'
import { findDuplicates, fingerprint, readFingerprints } from '../transform/merge/fingerprints.ts'
import { keyedItems } from '../transform/merge/page-items.ts'
import { type Plan, walletsOf } from './plan.ts'
import {
  openReadPages,
  READ_RESULTS,
  type ReadResult,
  type ReadSelection,
  removeReads,
} from './read-results.ts'
import { fingerprintsPath, type RunState, verifiedPath } from './run-state.ts'
import type { QueueRun } from './shared-requests.ts'
import { rangesByWallet } from './tasks.ts'
import type { ListingPosition, WriteResult } from './write-results.ts'

/** Maximum number of reads that are repeated. Each has up to 50 pages. */
const MAX_REREADS = 20

/**
 * Repeats reads, once per block of a listing, if their pages place a transaction in two partitions or if
 * their views of a transaction contradict each other. If a transaction remains in two partitions, the
 * partitions from its first to its last block are merged into one, in which its views are united as in a run
 * on one machine.
 */
export function createReconciler({ plan, runState, stats, onNotice }: QueueRun) {
  const source = sourceOf(plan.job.service.api)
  const reread = new Set<string>()
  let mergedRanges: readonly BlockRange[] = []
  let rereadsLeft = MAX_REREADS
  const notice = (message: string) => onNotice(`${plan.job.name}: ${message}`)
  /** Schedules blocks for another read. Resolves with false if none of them may be repeated. */
  const reopen = async (message: string, positions: readonly ListingPosition[]): Promise<boolean> => {
    const open = positions.filter((position) => !reread.has(positionKey(position)))
    for (const position of open) reread.add(positionKey(position))
    const reopened = readsCovering(plan, await READ_RESULTS.list(runState, plan), open).slice(0, rereadsLeft)
    rereadsLeft -= reopened.length
    if (reopened.length === 0) return false
    notice(`${message}; ${reopened.length === 1 ? '1 task is' : `${reopened.length} tasks are`} repeated`)
    await removeReads(runState, reopened)
    return true
  }
  return {
    /** Ranges whose partitions are merged. */
    mergedRanges: (): readonly BlockRange[] => mergedRanges,
    /** Whether the partitions form a consistent export. */
    isConsistent: async (selection: ReadSelection, writes: readonly WriteResult[]): Promise<boolean> => {
      recordContradictions(stats, writes)
      const reorged = await findReorged({ runState, source }, selection, writes)
      if (reorged.transactions > 0) {
        if (await reopen(describeReorged(reorged), reorged.positions)) return false
        notice(`${describeReorged(reorged)}, even when read again; these partitions are written as one`)
        mergedRanges = [...mergedRanges, ...reorged.ranges]
        return false
      }
      const { unresolved } = stats.contradicted
      const differ = unresolved === 1 ? '1 transaction differs' : `${unresolved} transactions differ`
      const positions = writes.flatMap(({ contradictions }) => contradictions)
      if (await reopen(`${differ} between wallets`, positions)) return false
      if (unresolved > 0) notice(`${differ} between wallets even when read again`)
      return true
    },
  }
}

function recordContradictions(stats: RunStats, writes: readonly WriteResult[]): void {
  const sum = (count: (write: WriteResult) => number) => writes.reduce((all, write) => all + count(write), 0)
  const unresolved = sum(({ contradicted }) => contradicted)
  stats.contradicted = { found: Math.max(stats.contradicted.found, unresolved), unresolved }
  stats.repeatedLogs = sum(({ repeatedLogs }) => repeatedLogs)
}

const positionKey = ({ wallet, block }: ListingPosition) => `${wallet}/${block}`

/** The reads that cover one of these listing positions. */
function readsCovering(
  plan: Plan,
  reads: readonly ReadResult[],
  positions: readonly ListingPosition[],
): ReadResult[] {
  const blocks = new Map<string, number[]>()
  for (const { wallet, block } of positions) {
    const existing = blocks.get(wallet)
    if (existing === undefined) blocks.set(wallet, [block])
    else existing.push(block)
  }
  const wallets = walletsOf(plan)
  return reads.filter(({ covered }) =>
    [...rangesByWallet([covered])].some(([wallet, ranges]) =>
      blocks
        .get(wallets[wallet]?.address ?? '')
        ?.some((block) => ranges.some(({ from, to }) => block >= from && block < to)),
    ),
  )
}

function describeReorged({ transactions }: ReorgedInCluster): string {
  return transactions === 1
    ? 'the service reports 1 transaction in two partitions'
    : `the service reports ${transactions} transactions in two partitions each`
}

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
async function findReorged(
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

const containsAny = (hashes: Fingerprints | undefined, searched: ReadonlySet<number>) =>
  hashes !== undefined && readFingerprints(hashes).some((print) => searched.has(print))

type ViewQuery = {
  runState: RunState
  source: Source
  selection: ReadSelection
  ranges: readonly BlockRange[]
  repeated: ReadonlySet<number>
}

async function* viewsIn({ runState, source, selection, ranges, repeated }: ViewQuery) {
  const overlaps = (from: number, to: number) => ranges.some((range) => range.from < to && range.to > from)
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
