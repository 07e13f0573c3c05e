import { ExportError } from '../core/model/errors.ts'
import { isAtomicListing, UNBOUNDED, walletOf } from '../core/model/listings.ts'
import { newRunStats, type RunStats } from '../core/model/run-stats.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { appearedSince, findFixedEnd, indexedBeforeMs } from '../export/fetch/find-end.ts'
import { describeRefusal, requireServiceResponds } from '../export/fetch/wallet-refusals.ts'
import { endOfExport } from '../export/resume/previous-export.ts'
import { type Plan, walletsOf } from './plan.ts'
import { addProgress } from './progress.ts'
import type { PublishContext } from './publish-run.ts'
import { newestBlockOf, type ReadResult, refusedListings, refusedWallets } from './read-results.ts'
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

/**
 * Makes the requests that a run on one machine makes once all pages are there: whether the service still responds
 * for other wallets than the refused ones, and whether the chain has reached the end of the run.
 *
 * @returns the end of the export, which is determined once per process
 * @throws the first refusal if every wallet is refused
 */
export async function finishReads(
  context: FinishReadsContext,
  reads: readonly ReadResult[],
): Promise<number> {
  const { server, plan, run, previous, stats } = context
  const own = newRunStats(plan.job.wallets.length, Date.now())
  const limit = limitConcurrency(1)
  const { requestContext, close } = openSharedRequestContext({ ...context, limit, stats: own })
  try {
    await confirmRefusals(plan, requestContext, reads)
    if (stats.endBlock !== undefined) return stats.endBlock
    const { wallet, block } = newestBlockOf(reads) ?? {}
    const { job, range } = plan
    return await findFixedEnd({
      ...{ job, requestContext, endBlock: range.to, head: block, newestWallet: wallet && walletOf(wallet) },
      indexedBeforeMs: indexedBeforeMs(plan, own),
      appearedSince: (key) => appearedSince(key, plan, own),
      minEnd: previous.manifest && endOfExport(previous.manifest),
    })
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
  { reads, end }: { reads: readonly ReadResult[]; end: number },
): void {
  stats.endBlock = end
  stats.refused = refusedWallets(plan, reads).map(({ address, error }) => ({ address, error }))
}
