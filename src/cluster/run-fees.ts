import * as v from 'valibot'
import { openFeeLog } from '../checkpoint/fees.ts'
import { ExportError } from '../core/model/errors.ts'
import { openFeeResolver } from '../export/fees/fee-resolver.ts'
import { privateFolder } from '../export/private-folder.ts'
import { sourceOf } from '../sources/index.ts'
import type { FeeSource } from '../transform/fees.ts'
import { openFeesOfPage } from '../transform/open-fees.ts'
import type { OpenFee } from '../transform/staged/page-index.ts'
import { walletsOf } from './plan.ts'
import { openReadPages, type ReadSelection } from './read-results.ts'
import { parseTextAs } from './schemas.ts'
import { type QueueRun, withRequests } from './shared-requests.ts'

/**
 * Finds out which prices were paid, once all pages are there, and stores the result for the partitions. The
 * coordinator requests all details, so that they count against one budget.
 */
export async function saveRunFees(run: QueueRun, selection: ReadSelection): Promise<void> {
  const { plan, runState } = run
  const path = runState.at(feesPath(selection))
  if (plan.job.fees === 'listed' || (await runState.objects.readText(path)) !== undefined) return
  const fees = await resolveFees(run, selection)
  const details = fees.from === 'details' ? [...fees.details] : []
  await runState.objects.putText(path, JSON.stringify({ from: fees.from, details }))
}

/** The prices of a run. Throws OUTPUT_FAILED if they are missing. */
export async function loadRunFees(
  { plan, runState }: Pick<QueueRun, 'plan' | 'runState'>,
  selection: ReadSelection,
): Promise<FeeSource> {
  if (plan.job.fees === 'listed') return { from: 'listing' }
  const path = runState.at(feesPath(selection))
  const stored = parseTextAs(FEES_SCHEMA, await runState.objects.readText(path))
  if (stored === undefined) throw new ExportError('OUTPUT_FAILED', `${path} of the run is missing or damaged`)
  return stored.from === 'details'
    ? { from: 'details', details: new Map(stored.details) }
    : { from: stored.from }
}

const feesPath = ({ sha256 }: ReadSelection) => `fees-${sha256}.json`

const digits = v.pipe(v.string(), v.regex(/^\d{1,78}$/))
const FEES_SCHEMA = v.strictObject({
  from: v.picklist(['listing', 'effective listing', 'details']),
  details: v.array(v.tuple([v.string(), v.strictObject({ price: digits, extra: v.optional(digits) })])),
})

function resolveFees(run: QueueRun, selection: ReadSelection): Promise<FeeSource> {
  const { plan, job, onNotice } = run
  return withRequests(run, plan.job.concurrency, async (requestContext, stats) => {
    const log = await openFeeLog(privateFolder(job))
    const resolver = openFeeResolver({ job: plan.job, checkpoint: log, requestContext, stats, onNotice })
    try {
      return await resolver.resolve(() => openFeesIn(run, selection))
    } finally {
      await resolver.close()
      await log.close()
    }
  })
}

async function* openFeesIn(
  { plan, runState }: QueueRun,
  { reads, end }: ReadSelection,
): AsyncGenerator<OpenFee, void, void> {
  const ends = new Map(walletsOf(plan).map(({ address, to }) => [address, to]))
  const isOwn = (address: string, block: number) => block < (ends.get(address) ?? 0)
  const source = sourceOf(plan.job.service.api)
  for (const read of reads) {
    const log = await openReadPages(runState, read)
    for await (const { wallet, body } of log.read(({ items }) => items > 0)) {
      for (const fee of openFeesOfPage({ wallet, body, chain: plan.job.chain, source }, isOwn))
        if (fee.block < end) yield fee
    }
  }
}
