import { ExportError } from '../core/model/errors.ts'
import { EVERYWHERE } from '../core/model/listings.ts'
import { type Figures, newFigures } from '../core/model/run-stats.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { cameSince, findFixedEnd } from '../export/fetch/find-end.ts'
import { requireAnswer } from '../export/fetch/wallet-refusals.ts'
import { endOfExport } from '../export/resume/previous-export.ts'
import { type Plan, walletsOf } from './plan.ts'
import { addToTally } from './progress.ts'
import type { Publishing } from './publish-run.ts'
import { newestIn, type Read, refusedIn } from './read-results.ts'
import type { OpenRun, SharedServer } from './server/shared-server.ts'
import { openSharedRequester } from './shared-request-context.ts'

export type FinishingReads = Pick<Publishing, 'plan' | 'earlier' | 'figures' | 'signal'> & {
  server: SharedServer
  run: OpenRun
  apiKey: string | undefined
  allowPlainHttp: boolean | undefined
  noteWait: (askedMs: number) => string | undefined
  onNotice: (notice: string) => void
}

/**
 * Asks the service what a run of one machine asks once all pages are there: whether it answers other wallets than those it refused,
 * and whether the chain has reached the end of the run. Resolves with the end, which is determined once in a process. Throws
 * the first refusal where every wallet is refused.
 */
export async function finishReads(finishing: FinishingReads, reads: readonly Read[]): Promise<number> {
  const { server, plan, run, earlier, figures } = finishing
  const own = newFigures(plan.job.wallets.length, Date.now())
  const limit = limitConcurrency(1)
  const { requester, close } = openSharedRequester({ ...finishing, limit, figures: own })
  try {
    await confirmRefusals(plan, requester, reads)
    if (figures.endBlock !== undefined) return figures.endBlock
    const { wallet, block } = newestIn(reads) ?? {}
    const { job, range } = plan
    return await findFixedEnd({
      ...{ job, requester, endBlock: range.to, head: block, busiest: wallet },
      cameSince: (key) => cameSince(key, plan, own),
      leastEnd: earlier.before && endOfExport(earlier.before),
    })
  } finally {
    await close()
    await addToTally(server, run.id, { figures: own, told: {} })
  }
}

type Requester = ReturnType<typeof openSharedRequester>['requester']

async function confirmRefusals(plan: Plan, requester: Requester, reads: readonly Read[]): Promise<void> {
  const refused = refusedIn(plan, reads)
  const [one] = refused
  if (one === undefined) return
  await requireAnswer(
    {
      job: plan.job,
      listings: new Map(walletsOf(plan).map(({ address }) => [address, EVERYWHERE])),
      requester,
    },
    {
      refused: new Map(refused.map(({ address, error }) => [address, error])),
      first: new ExportError(one.code, `wallet ${one.address}: ${one.error}`),
    },
  )
}

/** Notes the end of a run and the wallets that were refused, for its summary and exit code. */
export function noteReading(
  figures: Figures,
  plan: Plan,
  { reads, end }: { reads: readonly Read[]; end: number },
): void {
  figures.endBlock = end
  figures.refused = refusedIn(plan, reads).map(({ address, error }) => ({ address, error }))
}
