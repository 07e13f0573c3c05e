import { ExportError } from '../core/model/errors.ts'
import { isAtomicListing, UNBOUNDED, walletOf } from '../core/model/listings.ts'
import { endOfExport } from '../core/model/manifest.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { hasItemFrom, isIndexed } from '../export/fetch/find-end.ts'
import { describeRefusal, requireServiceResponds } from '../export/fetch/wallet-refusals.ts'
import { completeTo } from '../export/resume/previous-export.ts'
import type { RequestContext } from '../http/request.ts'
import { type Plan, walletsOf } from './plan.ts'
import {
  indexedEndsOf,
  newestBlocksOf,
  type ReadResult,
  type ReadSelection,
  refusedListings,
  refusedWallets,
} from './read-results.ts'
import { type QueueRun, withRequests } from './shared-requests.ts'

/** Whether the service has indexed the whole range. Must be called before the first read. */
export function proveRange(run: QueueRun): Promise<boolean> {
  const { job, range } = run.plan
  return withRequests(run, 1, (requestContext, stats) =>
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
  run: QueueRun,
  { reads, isProven }: Pick<ReadSelection, 'reads' | 'isProven'>,
): Promise<number | undefined> {
  const { plan, previous, stats } = run
  const { job, range } = plan
  return withRequests(run, 1, async (requestContext, own) => {
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

async function confirmRefusals(
  plan: Plan,
  requestContext: RequestContext,
  reads: readonly ReadResult[],
): Promise<void> {
  const refused = refusedListings(plan, reads)
  const listings = new Map(walletsOf(plan).map(({ address }) => [address, UNBOUNDED]))
  for (const isAtomic of [false, true]) {
    const first = refused.find(({ address }) => isAtomicListing(address) === isAtomic)
    if (first === undefined) continue
    const message = `wallet ${walletOf(first.address)}: ${describeRefusal(first.address, first.error)}`
    await requireServiceResponds(
      { job: plan.job, listings, requestContext },
      {
        refused: new Map(refused.map(({ address, error }) => [address, error])),
        first: new ExportError(first.code, message),
        names: [...listings.keys()].filter((name) => isAtomicListing(name) === isAtomic),
      },
    )
  }
}

/** Records the end of a run and the refused wallets, for its summary and exit code. */
export function recordReads(stats: RunStats, plan: Plan, selection: ReadSelection): void {
  const { end } = selection
  stats.endBlock = end
  stats.refused = refusedWallets(plan, selection.reads).map(({ address, error }) => ({ address, error }))
  stats.completeTo = completeTo(indexedEndsOf(plan, selection), { end, refused: stats.refused })
}
