import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Listings } from '../core/model/listings.ts'
import { LOOKBACK_BLOCKS, type Lookback, NO_LOOKBACK } from '../core/model/lookback.ts'
import { endOfExport } from '../core/model/manifest.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { recoverChanges } from '../files/changes.ts'
import { readManifestIfExists } from '../files/publish.ts'
import type { RequestContext } from '../http/request.ts'
import { sourceOf } from '../sources/index.ts'
import type { Store } from '../storage/store.ts'
import { countLeftOut } from '../transform/left-out.ts'
import { isDamagedPage, isPage } from '../transform/merge/page-items.ts'
import {
  isOpen,
  type JobResult,
  type JobRun,
  noticeRemovedWallets,
  restoreStats,
  runExport,
} from './export-job.ts'
import { openFeeResolver } from './fees/fee-resolver.ts'
import { fetchJob } from './fetch/fetch-job.ts'
import { CutoffLowered } from './fetch/reading.ts'
import { type OutputWriter, openOutputWriter } from './output-writer.ts'
import { createReopener } from './reopen-contradicted.ts'
import type { AlreadyExported } from './resume/already-exported.ts'
import { compareRereads, confirmRemovals } from './resume/compare-lookback.ts'
import { findExport } from './resume/find-export.ts'
import { firstClosedBlock, reopenReadableGaps } from './resume/gaps.ts'
import {
  areSameRefusals,
  completeTo,
  continueExport,
  coversSame,
  indexedEnds,
  isOpenEnded,
  listingsToRead,
  manifestMatchesJob,
  type PreviousExport,
  refusedEndBlocks,
} from './resume/previous-export.ts'
import { type StartedRun, startRun } from './resume/start-run.ts'

/** A run of one job in this process, which holds the lock of its output. */
export type LocalRun = JobRun & {
  store: Store
  requestContext: RequestContext
  /** The end of the previous export that is read and written again. @default DEFAULT_LOOKBACK, written only if it changed */
  lookback: Lookback | undefined
  /** Called with one line each time the run goes back to an earlier step. */
  onDetail: (detail: string) => void
}

type Step = 'plan' | 'fetch' | 'compare' | 'stage' | 'merge' | 'publish'

/**
 * Why a run goes back, and to which step. src/README.md explains each reason; a transition that only makes a step
 * read more (`coverage` and `removal`) comes back to that step.
 */
const TRANSITIONS = {
  damage: 'plan',
  'missing pages': 'plan',
  clock: 'plan',
  gap: 'fetch',
  coverage: 'fetch',
  refusal: 'fetch',
  removal: 'fetch',
  lookback: 'fetch',
  contradiction: 'fetch',
  reorg: 'fetch',
} as const satisfies Record<string, Step>

type Reason = keyof typeof TRANSITIONS

/** What a step found. */
type Outcome =
  | { next: Step }
  | { back: Exclude<Reason, 'gap' | 'lookback' | 'reorg' | 'coverage' | 'removal'> }
  /** The first block that must be written again. */
  | { back: 'gap' | 'lookback'; block: number }
  | { back: 'reorg'; exported: AlreadyExported }
  | { end: JobResult['state'] }

/** Runs one job in this process. Never throws (see `runExport`). */
export async function exportJob(run: Omit<LocalRun, 'store'>): Promise<JobResult> {
  const { job, lookback = NO_LOOKBACK, onNotice } = run
  const isWanted = lookback.blocks > 0 || lookback.ms > 0
  if (isWanted && !isOpenEnded(job, await readManifestIfExists(job.output).catch(() => undefined)))
    onNotice(
      `${job.name}: the lookback applies only to jobs without endBlock; --fresh reads everything again`,
    )
  return runExport(run, (store) => exportLocally({ ...run, store }))
}

/** Fetches, writes and publishes what the export lacks. Each step may send the run back to an earlier one. */
async function exportLocally(run: LocalRun): Promise<JobResult['state']> {
  const localExport = new LocalExport(run)
  try {
    for (let step: Step = 'plan'; ; ) {
      const outcome = await localExport.run(step)
      if ('end' in outcome) return outcome.end
      step = 'next' in outcome ? outcome.next : await localExport.goBack(step, outcome)
    }
  } finally {
    await localExport.close()
  }
}

class LocalExport {
  readonly #run: LocalRun
  /** Why the checkpoint is opened again, if it is. */
  #planReason: Reason | undefined
  #hadDamage = false
  /** The open checkpoint, and the export that is continued. */
  #started: StartedRun | undefined
  /** The rows of this run, until it goes back to retain fewer or more blocks. */
  #rows: Rows | undefined
  #end = 0

  constructor(run: LocalRun) {
    this.#run = run
  }

  async run(step: Step): Promise<Outcome> {
    try {
      if (step === 'plan') return await this.#plan()
      this.#rows ??= await this.#openRows()
      const rows = this.#rows
      if (step === 'fetch') return await this.#fetch(rows)
      if (step === 'compare') return await this.#compare(rows)
      if (step === 'stage') return await this.#stage(rows)
      return step === 'merge' ? await this.#merge(rows) : await this.#publish(rows)
    } catch (error) {
      if (error instanceof CutoffLowered) return { back: 'clock' }
      if (!isDamagedPage(error) || this.#hadDamage) throw error
      this.#hadDamage = true
      return { back: 'damage' }
    }
  }

  async goBack(from: Step, outcome: Extract<Outcome, { back: Reason }>): Promise<Step> {
    const { back } = outcome
    this.#notice(from, back)
    if (TRANSITIONS[back] === 'plan') {
      this.#planReason = back
      await this.close()
      Object.assign(this.#run.stats, { rows: {}, transactions: 0 })
      return 'plan'
    }
    if (back === 'contradiction') return 'fetch'
    const { job, stats } = this.#run
    const { checkpoint, previous, ...started } = this.#planned
    let unchanged: PreviousExport | undefined
    let next: PreviousExport | undefined = previous
    if (back === 'refusal') {
      const refusedEnds = refusedEndBlocks(job, previous, { refused: stats.refused, checkpoint })
      next = { ...previous, refusedEnds }
      const refused = started.unchanged && { ...started.unchanged, refusedEnds }
      if (refused !== undefined && areSameRefusals(refused)) unchanged = refused
    } else if (outcome.back === 'reorg') next = await this.#continueFromReorg(outcome.exported)
    else if ('block' in outcome && outcome.block < previous.from)
      next = await this.#continueFrom(outcome.block)
    await this.#closeRows()
    Object.assign(stats, { rows: {}, transactions: 0 })
    if (next === undefined) return this.goBack(from, { back: 'missing pages' })
    this.#started = { checkpoint, previous: next, unchanged }
    return 'fetch'
  }

  async close(): Promise<void> {
    await this.#closeRows()
    await this.#started?.checkpoint.close()
    this.#started = undefined
  }

  /** Opens the checkpoint, and finds the blocks of the export that are retained. */
  async #plan(): Promise<Outcome> {
    const { job, requestContext, onNotice } = this.#run
    const reason = this.#planReason
    this.#started = await startRun({ ...this.#run, fromScratch: reason === 'missing pages' })
    const { checkpoint, previous, unchanged } = this.#started
    if (reason === 'damage') await this.#dropDamagedPages(checkpoint)
    noticeRemovedWallets(this.#run, previous)
    if (checkpoint.resumed) onNotice(`${job.name}: resuming an unfinished run`)
    await reopenReadableGaps({ job, requestContext, checkpoint })
    const block = firstClosedBlock(previous.manifest, checkpoint)
    if (block === undefined || block >= (unchanged ?? previous).from) return { next: 'fetch' }
    onNotice(
      `${job.name}: the service lists what it lacked before; blocks from ${block} on are written again`,
    )
    return { back: 'gap', block }
  }

  /** Drops damaged pages of the checkpoint, so that their blocks are requested again. */
  async #dropDamagedPages(checkpoint: Checkpoint): Promise<void> {
    const { job, onNotice } = this.#run
    const source = sourceOf(job.service.api)
    const pages = await checkpoint.dropUnreadablePages(async (location) =>
      isPage(await checkpoint.read(location), source),
    )
    const pagesText = pages === 1 ? '1 unreadable page' : `${pages} unreadable pages`
    onNotice(`${job.name}: the checkpoint contained ${pagesText}; the blocks are requested again`)
  }

  get #planned(): StartedRun {
    if (this.#started === undefined) throw new ExportError('BUG', 'the run has no plan')
    return this.#started
  }

  /** Opens the writer of the rows from the end of the retained blocks on. */
  async #openRows(): Promise<Rows> {
    const { job, store, requestContext, stats, lookback, onNotice } = this.#run
    const { checkpoint, previous: planned, unchanged: previous = planned } = this.#planned
    const fees = openFeeResolver({ ...this.#run, checkpoint })
    const { signal } = requestContext
    const output = await openOutputWriter({ job, store, checkpoint, stats, signal, previous, fees })
    const listings = listingsToRead(job, previous)
    const minEnd = previous.manifest === undefined ? 0 : endOfExport(previous.manifest)
    const mutableBlocks = Math.max(LOOKBACK_BLOCKS, lookback?.blocks ?? 0)
    const fetching = { job, listings, minEnd, mutableBlocks, requestContext, checkpoint, stats, onNotice }
    const fetchMissing = () =>
      fetchJob({
        ...fetching,
        openPageReader: output.openPageReader,
        onPage: output.onPageStored,
        onUnproven: () => this.#notice('fetch', 'coverage'),
      })
    return { checkpoint, previous, listings, minEnd, output, fetchMissing, isNew: true, contradicted: 0 }
  }

  async #closeRows(): Promise<void> {
    if (this.#rows === undefined) return
    await this.#rows.output.close()
    this.#rows = undefined
  }

  async #fetch({ previous, fetchMissing, reopen }: Rows): Promise<Outcome> {
    const { stats } = this.#run
    if (reopen !== undefined) {
      // The blocks of contradicted transactions. All others have been read and compared.
      await fetchMissing()
      return { next: 'stage' }
    }
    stats.phase = 'reading'
    const isFetched = previous.refusedEnds !== undefined && stats.endBlock !== undefined
    this.#end = isFetched ? (stats.endBlock ?? 0) : await fetchMissing()
    stats.endBlock = this.#end
    return this.#hasNewRefusals(previous) ? { back: 'refusal' } : { next: 'compare' }
  }

  /** Compares the blocks that were read again with the pages of earlier runs. */
  async #compare(rows: Rows): Promise<Outcome> {
    const { checkpoint, previous, listings, minEnd, fetchMissing } = rows
    const { job, stats } = this.#run
    const { manifest, from } = previous
    const source = sourceOf(job.service.api)
    const { changedFrom, vanished } = await compareRereads(checkpoint, listings, { to: from, source })
    if (vanished.size > 0) this.#notice('compare', 'removal')
    stats.answersDiffer += await confirmRemovals(checkpoint, vanished, { source, fetchMissing })
    if (this.#hasNewRefusals(previous)) return { back: 'refusal' }
    const isAssumedWrongly = this.#planned.unchanged !== undefined && !areSameRefusals(previous)
    const block = isAssumedWrongly ? checkpoint.from : changedFrom
    if (block !== undefined) return { back: 'lookback', block }
    const ends = indexedEnds(job, checkpoint)
    stats.completeTo = completeTo(ends, { end: this.#end, refused: stats.refused })
    stats.leftOut = await countLeftOut(checkpoint, listings, source)
    rows.isNew =
      manifest === undefined || this.#end > from || from < minEnd || !manifestMatchesJob(manifest, this.#run)
    if (!rows.isNew && manifest !== undefined && coversSame(manifest, ends)) return this.#keepFiles(rows)
    return { next: 'stage' }
  }

  async #keepFiles({ checkpoint }: Rows): Promise<Outcome> {
    const { job, store, stats } = this.#run
    await restoreStats(job, stats)
    stats.changes = await recoverChanges({ store, run: checkpoint.begunMs })
    stats.endBlock = this.#end
    if (isOpen(job, stats)) await checkpoint.finish({ from: this.#end, to: this.#end, seen: {} })
    return this.#finish(checkpoint, 'unchanged')
  }

  async #stage({ output }: Rows): Promise<Outcome> {
    const { stats } = this.#run
    stats.phase = 'writing'
    stats.share = 1
    await output.stage(this.#end)
    return { next: 'merge' }
  }

  /** Puts the rows in order. Contradicted transactions are read again until the views agree, or all have been. */
  async #merge(rows: Rows): Promise<Outcome> {
    const { stats } = this.#run
    const merged = await rows.output.merge()
    const { contradicted, alreadyExported } = merged
    rows.contradicted = Math.max(rows.contradicted, contradicted)
    stats.contradicted = { found: rows.contradicted, unresolved: contradicted }
    rows.reopen ??= createReopener({ ...this.#run, ...rows, listings: withoutRefused(rows.listings, stats) })
    if (alreadyExported === undefined && (await rows.reopen(merged))) return { back: 'contradiction' }
    if (this.#hasNewRefusals(rows.previous)) return { back: 'refusal' }
    return alreadyExported === undefined ? { next: 'publish' } : { back: 'reorg', exported: alreadyExported }
  }

  async #publish({ checkpoint, output, isNew }: Rows): Promise<Outcome> {
    const { job, stats } = this.#run
    const written = await output.publish()
    stats.endBlock = written.to
    if (isOpen(job, stats)) await checkpoint.finish(written)
    // If nothing is new, only the manifest states more.
    if (!isNew) await restoreStats(job, stats)
    return this.#finish(checkpoint, isNew ? 'complete' : 'unchanged')
  }

  async #finish(checkpoint: Checkpoint, state: JobResult['state']): Promise<Outcome> {
    return { end: (await checkpoint.reopenMissing()) ? 'incomplete' : state }
  }

  #notice(from: Step, reason: Reason): void {
    const { job, stats, onDetail } = this.#run
    stats.wentBack[reason] = (stats.wentBack[reason] ?? 0) + 1
    onDetail(`${job.name}: ${reason}: back from ${from} to ${TRANSITIONS[reason]}`)
  }

  /** Whether the service refused wallets whose ends are not known yet. The rows of other wallets depend on them. */
  #hasNewRefusals({ refusedEnds }: PreviousExport): boolean {
    return this.#run.stats.refused.length > (refusedEnds?.size ?? 0)
  }

  /**
   * Returns the part of the export before a block that is retained; undefined if the pages of the blocks after it are
   * no longer in the checkpoint.
   */
  async #continueFrom(block: number): Promise<PreviousExport | undefined> {
    const { job, store } = this.#run
    const { checkpoint } = this.#planned
    const existing = await findExport(job, store)
    if (existing === undefined) return undefined
    const previous = await continueExport(job, existing, { checkpoint, from: block })
    return previous.from >= checkpoint.base ? previous : undefined
  }

  /**
   * Handles a reorg: transactions of this run were already exported in earlier blocks. Reopens the blocks from
   * the first of these on for all listings, and returns the part of the export that is retained.
   */
  async #continueFromReorg({ transactions, block }: AlreadyExported): Promise<PreviousExport | undefined> {
    const { job, onNotice } = this.#run
    const { checkpoint } = this.#planned
    const transactionsText =
      transactions === 1
        ? '1 transaction was already exported in an earlier block'
        : `${transactions} transactions were already exported in earlier blocks`
    const previous = block === undefined ? undefined : await this.#continueFrom(block)
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
}

/** The rows of a run and what they are made from, as long as the same blocks are retained. */
type Rows = {
  checkpoint: Checkpoint
  previous: PreviousExport
  listings: Listings
  /** The end of the existing export. */
  minEnd: number
  output: OutputWriter
  /** Fetches the remaining blocks. */
  fetchMissing: () => Promise<number>
  /** Whether the export gets other rows, wallets or settings. */
  isNew: boolean
  /** The most transactions whose views contradicted each other in a merge. */
  contradicted: number
  /** Reopens their blocks, once each. Undefined before the first merge. */
  reopen?: ReturnType<typeof createReopener>
}

function withoutRefused(listings: Listings, { refused }: Pick<RunStats, 'refused'>): Listings {
  const names = new Set(refused.map(({ address }) => address))
  return new Map([...listings].filter(([name]) => !names.has(name)))
}
