import { ExportError } from '../core/model/errors.ts'
import { isAtomicListing, UNBOUNDED, walletOf } from '../core/model/listings.ts'
import { endOfExport } from '../core/model/manifest.ts'
import { newRunStats, type RunStats } from '../core/model/run-stats.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { hasItemFrom, isIndexed } from '../export/fetch/find-end.ts'
import { describeRefusal, requireServiceResponds } from '../export/fetch/wallet-refusals.ts'
import { completeTo } from '../export/resume/previous-export.ts'
import { type Plan, walletsOf } from './plan.ts'
import { addProgress } from './progress.ts'
import type { PublishContext } from './publish-run.ts'
import {
  indexedEndsOf,
  newestBlocksOf,
  type ReadResult,
  refusedListings,
  refusedWallets,
} from './read-results.ts'
import type { OpenRun, SharedServer } from './server/shared-server.ts'
import { openSharedRequestContext } from './shared-request-context.ts'

export type FinishReadsContext = Pick<PublishContext, 'plan' | 'previous' | 'stats' | 'signal'> & {
  server: SharedServer
  run: OpenRun
  apiKey: string | undefined
  allowPlainHttp: boolean | undefined
  checkWait: (requestedWaitMs: number) => string | undefined
  onNotice: (notice: string) => void
}

/** Whether the service has indexed the whole range. Must be called before the first read. */
export function proveRange(context: FinishReadsContext): Promise<boolean> {
  const { job, range } = context.plan
  return withRequests(context, (requestContext, stats) =>
    isIndexed({ job, requestContext, stats }, range.to - 1),
  )
}

/**
 * Makes the requests that a run on one machine makes once all pages are there: whether the service still responds
 * for other wallets than the refused ones, and, if some wallets may be incomplete, whether it has indexed the whole range
 * by now.
 *
 * @returns the end of the export, which is determined once per process; undefined if all blocks must be read again,
 *   because only now the service shows that it has indexed the whole range
 * @throws the first refusal if every wallet is refused
 */
export function finishReads(
  context: FinishReadsContext,
  { reads, isProven }: { reads: readonly ReadResult[]; isProven: boolean },
): Promise<number | undefined> {
  const { plan, previous, stats } = context
  const { job, range } = plan
  return withRequests(context, async (requestContext, own) => {
    await confirmRefusals(plan, requestContext, reads)
    if (stats.endBlock !== undefined) return stats.endBlock
    const ends = [...indexedEndsOf(plan, { reads, isProven }).values()]
    if (ends.every((end) => end >= range.to)) return range.to
    const [[wallet, block] = ['', -1]] = newestBlocksOf(reads)
    const proof = { job, requestContext, stats: own }
    if (wallet !== '' && (await hasItemFrom(proof, walletOf(wallet), range.to - 1))) return undefined
    const before = previous.manifest === undefined ? 0 : endOfExport(previous.manifest)
    return Math.min(range.to, Math.max(before, range.from, block + 1))
  })
}

async function withRequests<T>(
  context: FinishReadsContext,
  use: (requestContext: Requester, stats: RunStats) => Promise<T>,
): Promise<T> {
  const { server, plan, run } = context
  const own = newRunStats(plan.job.wallets.length, Date.now())
  const limit = limitConcurrency(1)
  const { requestContext, close } = openSharedRequestContext({ ...context, limit, stats: own })
  try {
    return await use(requestContext, own)
  } finally {
    await close()
    await addProgress(server, run.id, { stats: own, reported: {} })
  }
}

type Requester = ReturnType<typeof openSharedRequestContext>['requestContext']

async function confirmRefusals(
  plan: Plan,
  requestContext: Requester,
  reads: readonly ReadResult[],
): Promise<void> {
  const refused = refusedListings(plan, reads)
  const listings = new Map(walletsOf(plan).map(({ address }) => [address, UNBOUNDED]))
  for (const isAtomic of [false, true]) {
    const one = refused.find(({ address }) => isAtomicListing(address) === isAtomic)
    if (one === undefined) continue
    await requireServiceResponds(
      { job: plan.job, listings, requestContext },
      {
        refused: new Map(refused.map(({ address, error }) => [address, error])),
        first: new ExportError(
          one.code,
          `wallet ${walletOf(one.address)}: ${describeRefusal(one.address, one.error)}`,
        ),
        names: [...listings.keys()].filter((name) => isAtomicListing(name) === isAtomic),
      },
    )
  }
}

/** Records the end of a run and the refused wallets, for its summary and exit code. */
export function recordReads(
  stats: RunStats,
  plan: Plan,
  { reads, end, isProven }: { reads: readonly ReadResult[]; end: number; isProven: boolean },
): void {
  stats.endBlock = end
  stats.refused = refusedWallets(plan, reads).map(({ address, error }) => ({ address, error }))
  stats.completeTo = completeTo(indexedEndsOf(plan, { reads, isProven }), { end, refused: stats.refused })
}
