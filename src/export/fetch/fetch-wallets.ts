import { type BlockRange, type Job, NO_END } from '../../core/model/model.ts'
import { recordSmallPages } from '../../core/model/run-stats.ts'
import {
  type AdaptivePageSize,
  createAdaptivePageSize,
} from '../../sources/data-api/pages/adaptive-page-size.ts'
import { type Page, type PageLimits, readPage } from '../../sources/data-api/pages/page.ts'
import { readRange } from '../../sources/data-api/pages/read-range.ts'
import type { FetchContext } from './fetch-context.ts'
import { findEnd, headBefore } from './find-end.ts'
import { type Assignment, createReadPlan, type Range } from './read-plan.ts'
import { type ReaderTask, runReaders } from './run-readers.ts'
import { createRefusals, type Refusals } from './wallet-refusals.ts'

/**
 * Asks the service for everything that the spool does not hold yet; resolves with the run's pinned end (exclusive).
 *
 * Without `endBlock` no request says where the head is, so each wallet's open end is read newest block first: the
 * highest block of all first pages, not younger than the run's start less `finality`, is the head for all wallets.
 * Where the chain grew while a run was interrupted, wallets read before are asked for what they lack up to that end. An
 * `endBlock` that the chain had not reached when the run began leaves the end at the head of that time likewise.
 *
 * A wallet whose listing is refused (400, 403, 404) while others are answered does not end the run: it is noted in the
 * figures, and its blocks stay in the spool's `remaining`.
 */
export async function fetchWallets(context: FetchContext): Promise<number> {
  const refusals = createRefusals(context)
  const walletsContext = { ...context, refusals, pageSizes: new Map<string, AdaptivePageSize>() }
  await readRanges(walletsContext, openRanges(walletsContext))
  await refusals.confirm()
  const end = await findEnd(context)
  await readRanges(walletsContext, openRanges(walletsContext))
  context.stats.refused = await refusals.confirm()
  return end
}

function* openRanges({ listings, checkpoint, refusals }: WalletsContext): Generator<Range> {
  for (const [address, bounds] of listings) {
    if (refusals.has(address)) continue
    for (const range of checkpoint.remaining(address, bounds)) {
      yield { address, range, order: range.to === NO_END ? 'desc' : 'asc' }
    }
  }
}

/** As many readers as the job allows share the pieces until all is read; the first failure stops all. */
async function readRanges(context: WalletsContext, ranges: Iterable<Range>): Promise<void> {
  const { job, requestContext } = context
  const open = (signal: AbortSignal) =>
    shareRanges({ ...context, requestContext: { ...requestContext, signal } }, ranges)
  await runReaders({ count: job.concurrency, signal: requestContext.signal, open })
}

function shareRanges(context: WalletsContext, ranges: Iterable<Range>): ReaderTask {
  const plan = createReadPlan(ranges)
  const notifier = createNotifier(context.requestContext.signal)
  const assignmentContext = { ...context, onProgress: notifier.notify }
  return {
    onFailure: notifier.notify,
    run: async (isSpent) => {
      while (!isSpent()) {
        const assignment = plan.assign()
        if (assignment !== undefined)
          await readUnlessWalletRefused(assignmentContext, assignment).finally(notifier.notify)
        else if (plan.isComplete()) return
        else await notifier.wait()
      }
    },
  }
}

/** Lets idle readers sleep until somebody has got a page. */
function createNotifier(signal: AbortSignal): { wait: () => Promise<void>; notify: () => void } {
  let waiters: (() => void)[] = []
  const notify = () => {
    const notified = waiters
    waiters = []
    for (const wake of notified) wake()
  }
  signal.addEventListener('abort', notify)
  return {
    notify,
    wait: async () => {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => waiters.push(resolve))
      signal.throwIfAborted()
    },
  }
}

/** Reads a claim; a refusal of its wallet is noted, and the rest of the claim given up. */
async function readUnlessWalletRefused(context: AssignmentContext, assignment: Assignment): Promise<void> {
  const { refusals } = context
  if (!refusals.has(assignment.address)) {
    await readAssignment(context, assignment).catch((thrown: unknown) =>
      refusals.recordRefusal(assignment.address, thrown),
    )
  }
  assignment.finish()
}

type WalletsContext = FetchContext & {
  refusals: Refusals
  /** By wallet: its readers share one. */
  pageSizes: Map<string, AdaptivePageSize>
}
type AssignmentContext = WalletsContext & { onProgress: () => void }

async function readAssignment(context: AssignmentContext, assignment: Assignment): Promise<void> {
  const { job, requestContext, checkpoint, stats, onPage, onProgress, pageSizes, refusals } = context
  const { address, range, order } = assignment
  const size = pageSizes.get(address) ?? createAdaptivePageSize()
  pageSizes.set(address, size)
  const narrowRange = (rest: BlockRange, page: Page) => {
    const remaining = assignment.recordPage(rest, page)
    onProgress()
    return remaining
  }
  const read = (body: Buffer, limits: PageLimits) =>
    context.readPage === undefined ? readPage(body, limits) : context.readPage(address, body, limits)
  const head = () => (job.endBlock === undefined ? checkpoint.head() : job.endBlock - 1)
  const { mutableBlocks } = context
  const wallet = { chain: job.chain, address, cutMs: checkpoint.cutMs, mutableBlocks }
  for await (const page of readRange(requestContext, {
    ...wallet,
    range,
    order,
    narrowRange,
    read,
    size,
    head,
  })) {
    refusals.recordResponse()
    const headBlock = job.endBlock === undefined ? page.head : headBefore(page.keys, checkpoint, stats)
    const { offset } = await checkpoint.addPage(address, { ...page, head: headBlock })
    onPage({ body: page.body, offset })
    requestContext.client.recycleBody(page.body)
    stats.pages += 1
    stats.items += page.items
    recordSmallPages(stats, address, size.smallest())
    stats.share = shareCompleted(stats.share, { job, covered: page.covered, head: checkpoint.head() })
  }
}

type CoverageUpdate = { job: Job; covered: BlockRange; head: number | undefined }

/** The share of the job's blocks that pages have settled, all wallets together; without an end, up to the head. */
function shareCompleted(share: number, { job, covered, head }: CoverageUpdate): number {
  const end = job.endBlock ?? (head ?? job.startBlock) + 1
  const blocks = (end - job.startBlock) * job.wallets.length
  const completed = Math.min(covered.to, end) - Math.min(covered.from, end)
  return blocks <= 0 ? 1 : Math.min(1, share + completed / blocks)
}
