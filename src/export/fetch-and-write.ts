import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { Listings } from '../core/model/listings.ts'
import { LOOKBACK_BLOCKS, type Lookback } from '../core/model/lookback.ts'
import { endOfExport, type Manifest } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { type RunStats, recordWholeExport } from '../core/model/run-stats.ts'
import { recoverChanges } from '../files/changes.ts'
import { readManifestIfExists } from '../files/publish.ts'
import type { RequestContext } from '../http/request.ts'
import { sourceOf } from '../sources/index.ts'
import type { Store } from '../storage/store.ts'
import { countLeftOut } from '../transform/left-out.ts'
import { openFeeResolver } from './fees/fee-resolver.ts'
import { fetchJob } from './fetch/fetch-job.ts'
import { type MergeResult, type OutputWriter, openOutputWriter } from './output-writer.ts'
import { createReopener } from './reopen-contradicted.ts'
import type { AlreadyExported } from './resume/already-exported.ts'
import { compareRereads, confirmRemovals } from './resume/compare-lookback.ts'
import { findChangedSettings, findExport } from './resume/find-export.ts'
import {
  areSameRefusals,
  completeTo,
  continueExport,
  hasSameWallets,
  indexedEnds,
  listingsToRead,
  type PreviousExport,
  refusedEndBlocks,
} from './resume/previous-export.ts'
import type { StartedRun } from './resume/start-run.ts'

/** One job of a run. The process holds the lock of its output. */
export type JobExport = {
  job: Job
  store: Store
  requestContext: RequestContext
  stats: RunStats
  /** The end of the previous export that is read and written again. @default DEFAULT_LOOKBACK, written only if it changed */
  lookback: Lookback | undefined
  onNotice: (notice: string) => void
}

/**
 * `pages missing`: a reorg affects blocks whose pages are no longer in the checkpoint, so the whole history
 * must be read again.
 */
export type WriteState = 'complete' | 'unchanged' | 'pages missing'

/**
 * Fetches and writes the missing blocks. It starts over in three cases:
 *
 * - The lookback, and blocks that were not indexed when an earlier run read a wallet, are read for comparison, and new
 *   rows are staged meanwhile on the assumption that nothing has changed in them. If something has, the staged rows are
 *   discarded and the blocks from there on are written again too.
 * - If a reorg reaches further back, blocks are read and written again from there on.
 * - If the service refuses wallets, the others are written once it is known up to which block the refused ones
 *   were read.
 */
export async function fetchAndWrite(
  jobExport: JobExport,
  { checkpoint, previous, unchanged }: StartedRun,
): Promise<WriteState> {
  const state = await fetchAndWriteOnce(jobExport, {
    checkpoint,
    previous: unchanged ?? previous,
    isUnchangedAssumed: unchanged !== undefined,
  })
  if (typeof state === 'object' && 'changedFrom' in state) {
    if (state.changedFrom >= previous.from) return fetchAndWrite(jobExport, { checkpoint, previous })
    const continued = await continueFrom(jobExport, checkpoint, state.changedFrom)
    return continued === undefined
      ? 'pages missing'
      : fetchAndWrite(jobExport, { checkpoint, previous: continued })
  }
  if (state === 'wallets refused') {
    const { job, stats } = jobExport
    const refusedEnds = refusedEndBlocks(job, previous, { refused: stats.refused, checkpoint })
    const started = { checkpoint, previous: { ...previous, refusedEnds } }
    const isSame = unchanged !== undefined && areSameRefusals({ ...unchanged, refusedEnds })
    return fetchAndWrite(
      jobExport,
      isSame ? { ...started, unchanged: { ...unchanged, refusedEnds } } : started,
    )
  }
  if (typeof state === 'string') return state
  const continued = await continueFromReorg(jobExport, checkpoint, state)
  return continued === undefined
    ? 'pages missing'
    : fetchAndWrite(jobExport, { checkpoint, previous: continued })
}

type WriteOptions = {
  checkpoint: Checkpoint
  /** The export to continue. Its blocks before `previous.from` are retained. */
  previous: PreviousExport
  /** Whether blocks are retained that are written again unless the service refuses the same wallets as before. */
  isUnchangedAssumed: boolean
}

/** The first retained block that has changed. */
type Changed = { changedFrom: number }
type RestartReason = Changed | 'wallets refused' | AlreadyExported

/**
 * Fetches and writes once. Publishes nothing and returns the reason if retained blocks have changed, or if wallets were refused whose ends are not in `previous.refusedEnds`: the rows of other wallets
 * depend on how far those were read.
 */
async function fetchAndWriteOnce(
  jobExport: JobExport,
  { checkpoint, previous, isUnchangedAssumed }: WriteOptions,
): Promise<WriteState | RestartReason> {
  const { job, store, requestContext, stats, onNotice } = jobExport
  const { signal } = requestContext
  const source = sourceOf(job.service.api)
  const fees = openFeeResolver({ ...jobExport, checkpoint })
  const output = await openOutputWriter({ job, store, checkpoint, stats, signal, previous, fees })
  try {
    stats.phase = 'reading'
    const listings = listingsToRead(job, previous)
    const { manifest, from } = previous
    const minEnd = manifest === undefined ? 0 : endOfExport(manifest)
    const mutableBlocks = Math.max(LOOKBACK_BLOCKS, jobExport.lookback?.blocks ?? 0)
    const fetchOptions = { job, listings, minEnd, mutableBlocks, requestContext, checkpoint, stats, onNotice }
    const fetchMissing = () =>
      fetchJob({ ...fetchOptions, openPageReader: output.openPageReader, onPage: output.onPageStored })
    const end =
      previous.refusedEnds === undefined ? await fetchMissing() : (stats.endBlock ?? (await fetchMissing()))
    stats.endBlock = end
    if (hasNewRefusals(stats, previous)) return resetRowStats(stats, 'wallets refused')
    const { changedFrom: firstChanged, vanished } = await compareRereads(checkpoint, listings, {
      to: from,
      source,
    })
    const kept = await confirmRemovals(checkpoint, vanished, { source, fetchMissing })
    stats.answersDiffer += kept
    if (hasNewRefusals(stats, previous)) return resetRowStats(stats, 'wallets refused')
    const changedFrom = isUnchangedAssumed && !areSameRefusals(previous) ? checkpoint.from : firstChanged
    if (changedFrom !== undefined) return resetRowStats(stats, { changedFrom })
    const ends = indexedEnds(job, checkpoint)
    stats.completeTo = completeTo(ends, { end, refused: stats.refused })
    stats.leftOut = await countLeftOut(checkpoint, listings, source)
    const isNew =
      manifest === undefined || end > from || from < minEnd || !manifestMatchesJob(manifest, jobExport)
    if (!isNew && manifest !== undefined && coversSame(manifest, ends))
      return finishUnchanged(jobExport, checkpoint, end)
    stats.phase = 'writing'
    stats.share = 1
    const reopen = createReopener({ job, checkpoint, listings: withoutRefused(listings, stats), onNotice })
    const { alreadyExported } = await mergeUntilConsistent(output, { end, stats, fetchMissing, reopen })
    if (hasNewRefusals(stats, previous)) return resetRowStats(stats, 'wallets refused')
    if (alreadyExported !== undefined) return resetRowStats(stats, alreadyExported)
    const result = await output.finish(end)
    stats.endBlock = result.to
    if (isOpen(job, stats)) await checkpoint.finish(result)
    if (isNew) return 'complete'
    // Only the manifest states more.
    await restoreStats(job, stats)
    return 'unchanged'
  } finally {
    await output.close()
  }
}

type MergeOptions = {
  end: number
  stats: RunStats
  /** Fetches the remaining blocks. */
  fetchMissing: () => Promise<number>
  reopen: ReturnType<typeof createReopener>
}

/**
 * Merges rows. Reads contradicted transactions again until the views agree or all of them have been read
 * again.
 */
async function mergeUntilConsistent(
  output: OutputWriter,
  { end, stats, fetchMissing, reopen }: MergeOptions,
): Promise<MergeResult> {
  for (let found = 0; ; ) {
    const merged = await output.merge(end)
    found = Math.max(found, merged.contradicted)
    stats.contradicted = { found, unresolved: merged.contradicted }
    if (merged.alreadyExported !== undefined || !(await reopen(merged))) return merged
    await fetchMissing()
  }
}

/** Resets the counts of rows that will not be published and returns `reason`. */
function resetRowStats<Reason>(stats: RunStats, reason: Reason): Reason {
  Object.assign(stats, { rows: {}, transactions: 0 })
  return reason
}

/** Whether the service refused wallets whose ends are not known yet. */
function hasNewRefusals({ refused }: RunStats, { refusedEnds }: PreviousExport): boolean {
  return refused.length > (refusedEnds?.size ?? 0)
}

function withoutRefused(listings: Listings, { refused }: RunStats): Listings {
  const names = new Set(refused.map(({ address }) => address))
  return new Map([...listings].filter(([name]) => !names.has(name)))
}

/** Whether the wallets that the service answered are complete up to the same blocks as in the manifest. */
const coversSame = ({ coverage }: Manifest, ends: ReadonlyMap<string, number>): boolean =>
  coverage.every(
    ({ address, toBlock, error }) => error !== undefined || toBlock === (ends.get(address) ?? toBlock),
  )

/** Whether the manifest has the job's settings and wallets, and the same refusals as this run. */
function manifestMatchesJob(manifest: Manifest, { job, stats: { refused } }: JobExport): boolean {
  const exportedErrors = new Map(manifest.coverage.map(({ address, error }) => [address, error]))
  const refusals = [...exportedErrors.values()].filter((error) => error !== undefined)
  return (
    findChangedSettings(job, manifest).length === 0 &&
    hasSameWallets(job, manifest) &&
    refusals.length === refused.length &&
    refused.every(({ address, error }) => exportedErrors.get(address) === error)
  )
}

/** Whether later runs continue: the job has no endBlock, or it was not indexed when a wallet was read. */
export function isOpen({ endBlock, kind }: Job, stats: Pick<RunStats, 'completeTo'>): boolean {
  if (endBlock === undefined) return true
  return kind === 'wallets' && stats.completeTo !== undefined && stats.completeTo < endBlock
}

async function finishUnchanged({ job, store, stats }: JobExport, checkpoint: Checkpoint, end: number) {
  await restoreStats(job, stats)
  stats.changes = await recoverChanges({ store, run: checkpoint.begunMs })
  stats.endBlock = end
  if (isOpen(job, stats)) await checkpoint.finish({ from: end, to: end, seen: {} })
  return 'unchanged' as const
}

/** Loads the counts of the existing export, for the summary and the exit code of this run. */
export async function restoreStats(job: Job, stats: RunStats): Promise<void> {
  const manifest = await readManifestIfExists(job.output)
  if (manifest !== undefined) recordWholeExport(stats, manifest)
}

/**
 * Returns the part of the export before a block that is retained; undefined if the pages of the blocks after it are no
 * longer in the checkpoint.
 */
async function continueFrom(
  { job, store }: JobExport,
  checkpoint: Checkpoint,
  from: number,
): Promise<PreviousExport | undefined> {
  const found = await findExport(job, store)
  if (found === undefined) return undefined
  const previous = await continueExport(job, found, { checkpoint, from })
  return previous.from >= checkpoint.base ? previous : undefined
}

/**
 * Handles a reorg: transactions of this run were already exported in earlier blocks. Reopens the blocks from
 * the first of these on for all listings and returns the part of the export that is retained.
 * Returns undefined if the pages of these blocks are no longer in the checkpoint.
 */
async function continueFromReorg(
  jobExport: JobExport,
  checkpoint: Checkpoint,
  { transactions, block }: AlreadyExported,
): Promise<PreviousExport | undefined> {
  const { job, onNotice } = jobExport
  const transactionsText =
    transactions === 1
      ? '1 transaction was already exported in an earlier block'
      : `${transactions} transactions were already exported in earlier blocks`
  const previous = block === undefined ? undefined : await continueFrom(jobExport, checkpoint, block)
  if (block === undefined || previous === undefined) {
    onNotice(
      `${job.name}: reorg: ${transactionsText} whose pages are gone, so the whole history is read again`,
    )
    return undefined
  }
  onNotice(`${job.name}: reorg: ${transactionsText}; blocks from ${block} on are read again`)
  for (const [listing, bounds] of listingsToRead(job, previous)) {
    const reopened = { from: Math.max(block, bounds.from), to: Math.min(checkpoint.from, bounds.to) }
    const isDone = checkpoint
      .reopened(listing)
      .some(({ from, to }) => from <= reopened.from && to >= reopened.to)
    if (reopened.from < reopened.to && !isDone) await checkpoint.reopen(listing, reopened)
  }
  return previous
}
