import { timesForLookback } from '../../checkpoint/block-times.ts'
import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import { DEFAULT_FINALITY_MS } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'
import { walletOf } from '../../core/model/listings.ts'
import { type BlockRange, type Job, NO_END } from '../../core/model/model.ts'
import { type RunStats, recordSmallPages, serviceTime } from '../../core/model/run-stats.ts'
import { newestIndexed } from '../../sources/check-page.ts'
import { sourceOf } from '../../sources/index.ts'
import type { Page, WalletListing } from '../../sources/source.ts'
import { findEnd, proveEnd } from './find-end.ts'
import { type Assignment, createReadPlan, type Range } from './read-plan.ts'
import {
  type FetchContext,
  openListing,
  type ReaderTask,
  requireCutoffBefore,
  runReaders,
} from './reading.ts'
import { createRefusals, type Refusals } from './wallet-refusals.ts'

/**
 * Fetches all blocks of all wallets that the checkpoint lacks. Resolves with the pinned, exclusive end of the
 * run.
 *
 * Without `endBlock`, no endpoint returns the head, so the open end of each wallet is read newest block
 * first. The end for all wallets is the highest block in their first pages that is not newer than the start
 * of the run minus `finality`. If the chain grew while the run was interrupted, wallets that were read before
 * are read again up to the new end. What a wallet's coverage may claim is less (`Checkpoint.indexedTo`): another wallet
 * may have shown a block that was not indexed yet when this one was read.
 *
 * A wallet whose listing is refused (for example 400, 403 or 404) while others are served does not end the
 * run. It is recorded in `stats.refused`, and its blocks remain in the checkpoint's `remaining`.
 */
export async function fetchWallets(context: FetchContext): Promise<number> {
  const refusals = createRefusals(context)
  const walletsContext = { ...context, refusals, opened: new Map<string, WalletListing>() }
  // The requests for a page come first: a run with a low limit would otherwise make no progress.
  const hasAsked = requestsToSpare(context) > 0 && (await proveEnd(context))
  await readRanges(walletsContext, openRanges(walletsContext))
  await refusals.confirm()
  const end = await findEnd(context, hasAsked)
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

/** Reads all ranges concurrently. The first failure stops all readers. */
async function readRanges(context: WalletsContext, ranges: Iterable<Range>): Promise<void> {
  const { requestContext } = context
  requireEnoughRequests(context)
  const open = (signal: AbortSignal) =>
    shareRanges({ ...context, requestContext: { ...requestContext, signal } }, ranges)
  await runReaders({ count: readerCount(context), signal: requestContext.signal, open })
}

/**
 * `concurrency`, or fewer if not all readers could complete a page with the requests that are left: pages of which a
 * listing is incomplete are not stored, so that a run with a low limit would make no progress.
 */
function readerCount({ job, requestContext }: Pick<FetchContext, 'job' | 'requestContext'>): number {
  const left = requestContext.requestsLeft?.()
  const source = sourceOf(job.service.api)
  const isComposed = job.internals === 'full' || source.listingsPerWallet !== undefined
  if (left === undefined || !isComposed) return job.concurrency
  return Math.max(1, Math.min(job.concurrency, Math.floor(left / source.requestsPerPage(job))))
}

const requestsPerFirstPage = ({ service }: FetchContext['job']): number =>
  sourceOf(service.api).listingsPerWallet ?? 1

/** The requests that are left besides those for a page; Infinity without a limit. */
function requestsToSpare({ job, requestContext }: Pick<FetchContext, 'job' | 'requestContext'>): number {
  return (requestContext.requestsLeft?.() ?? Number.POSITIVE_INFINITY) - requestsPerFirstPage(job)
}

/** Throws BUDGET_REACHED if the requests that are left cannot complete a page: the run would make no progress. */
function requireEnoughRequests(context: Pick<FetchContext, 'job' | 'requestContext'>): void {
  if (requestsToSpare(context) >= 0) return
  const left = context.requestContext.requestsLeft?.() ?? 0
  const needed = requestsPerFirstPage(context.job)
  throw new ExportError(
    'BUDGET_REACHED',
    `${left} ${left === 1 ? 'request is' : 'requests are'} left, and the first page of a wallet needs ${needed}`,
    { fix: `Run the same command again with --max-requests ${needed} or more: it resumes.` },
  )
}

function shareRanges(context: WalletsContext, ranges: Iterable<Range>): ReaderTask {
  const plan = createReadPlan(ranges, sourceOf(context.job.service.api))
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

/** Lets idle readers wait until a page has arrived, because it may make new assignments worthwhile. */
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

/**
 * Reads an assignment. If its wallet is refused, records the refusal and abandons the rest of the assignment.
 */
async function readUnlessWalletRefused(context: AssignmentContext, assignment: Assignment): Promise<void> {
  const { refusals } = context
  if (!refusals.has(assignment.address)) {
    await readAssignment(context, assignment).catch((error: unknown) =>
      refusals.recordRefusal(assignment.address, error),
    )
  }
  assignment.finish()
}

type WalletsContext = FetchContext & {
  refusals: Refusals
  /** By the name of the listing. All readers of a listing share it. */
  opened: Map<string, WalletListing>
}
type AssignmentContext = WalletsContext & { onProgress: () => void }

async function readAssignment(context: AssignmentContext, assignment: Assignment): Promise<void> {
  const { job, requestContext, checkpoint, stats, onPage, onProgress, opened, refusals } = context
  const { address, range, order } = assignment
  const listing = opened.get(address) ?? openListing(job, address)
  opened.set(address, listing)
  const narrowRange = (rest: BlockRange, page: Page) => {
    const remaining = assignment.recordPage(rest, page)
    onProgress()
    return remaining
  }
  const head = () => (job.endBlock === undefined ? checkpoint.head() : job.endBlock - 1)
  const { mutableBlocks } = context
  const indexedBeforeMs = indexedBeforeTime(job, checkpoint, stats)
  const { cutoffMs } = checkpoint
  const indexedTo = checkpoint.indexedAtStart()
  const limits = { cutoffMs, indexedBeforeMs, indexedTo, mutableBlocks }
  const request = { range, order, ...limits, narrowRange, head, ...context.openPageReader?.(address) }
  for await (const page of listing.readRange(requestContext, request)) {
    await requireCutoffBefore(job, checkpoint, stats)
    refusals.recordResponse(address)
    const { keys, indexed = newestIndexed(keys, indexedBeforeMs) } = page
    const times = timesForLookback(keys, indexed ?? Number.NEGATIVE_INFINITY)
    const { offset } = await checkpoint.addPage(address, { ...page, indexed: indexed ?? null, times })
    onPage({ body: page.body, offset })
    requestContext.client.recycleBody(page.body)
    stats.pages += 1
    stats.items += page.items
    recordSmallPages(stats, walletOf(address), listing.reducedPageSize())
    stats.share = shareCompleted(stats.share, { job, covered: page.covered, head: checkpoint.head() })
  }
}

/**
 * The time up to which an item shows that its block, and all before it, are indexed in every listing of the service:
 * explorers index theirs at different times.
 */
export function indexedBeforeTime(
  { endBlock, service }: Pick<Job, 'endBlock' | 'service'>,
  { cutoffMs }: Pick<Checkpoint, 'cutoffMs'>,
  stats: Pick<RunStats, 'service'>,
): number {
  const lagMs = DEFAULT_FINALITY_MS[service.api]
  return endBlock === undefined || lagMs === 0 ? cutoffMs : serviceTime(stats) - lagMs
}

type CoverageUpdate = { job: Job; covered: BlockRange; head: number | undefined }

/**
 * Returns the share of the job's blocks that pages cover, over all listings. Without endBlock, up to the head.
 */
function shareCompleted(share: number, { job, covered, head }: CoverageUpdate): number {
  const end = job.endBlock ?? (head ?? job.startBlock) + 1
  const listings = job.wallets.length * (job.atomic ? 2 : 1)
  const blocks = (end - job.startBlock) * listings
  const completed = Math.min(covered.to, end) - Math.min(covered.from, end)
  return blocks <= 0 ? 1 : Math.min(1, share + completed / blocks)
}
