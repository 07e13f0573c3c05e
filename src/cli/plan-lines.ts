import type { Manifest } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import {
  type Cost,
  costOf,
  type Estimate,
  feeRequestsOf,
  MAX_DENSITY_RATIO,
  timeAtQuota,
} from '../export/estimate.ts'
import { meterOf } from '../export/open-request-context.ts'
import { sourceOf } from '../sources/index.ts'
import { formatBytes, formatCount, formatDuration, formatInteger, presentLines } from '../terminal/format.ts'
import { predictReconcile } from '../verify/reconcile/predict-requests.ts'

const UNKNOWN_UNTIL_PAGE = 'unknown until the first page'
const UNKNOWN_UNTIL_EXPORT = 'unknown until the first export'

/** Formats the estimated requests, compute units, time and disk space of a run as lines of at most 80 columns. */
export function estimateLines(estimate: Estimate, job: Job, manifest: Manifest | undefined): string[] {
  const cost = costOf(job, estimate)
  const { atomicRequests = 0 } = estimate
  return presentLines(
    `  quota  ${requestsText(estimate)}`,
    cost && `  units  ${unitsText(cost)}`,
    atomicRequests > 0 &&
      `  atomic at least ${formatCount(atomicRequests, 'more request')} for imports and exports`,
    feeLines(job, manifest?.feesUpperBound ?? 0),
    internalsLines(job),
    `  time   ${quotaTimeText(cost, job) ?? pastTimeText(estimate, job)}`,
    `  disk   ${diskText(estimate)}`,
  )
}

function requestsText({ minRequests, requests, maxRequests }: Estimate): string {
  const more =
    requests === undefined
      ? `; how many more is ${UNKNOWN_UNTIL_PAGE}`
      : `, about ${formatInteger(requests)} in all`
  return maxRequests === undefined
    ? `at least ${formatCount(minRequests, 'request')}${more}`
    : `about ${formatCount(requests ?? minRequests, 'request')}, ${formatInteger(minRequests)} to ${formatInteger(maxRequests)} if the rest is up to ${MAX_DENSITY_RATIO} times as dense`
}

function unitsText({ minUnits, units, maxUnits }: Cost): string {
  if (units === undefined) return `at least ${formatCount(minUnits, 'compute unit')}`
  const range = maxUnits === undefined ? '' : `, ${formatInteger(minUnits)} to ${formatInteger(maxUnits)}`
  return `about ${formatCount(units, 'compute unit')}${range}`
}

function diskText({ bytes, bytesPerTransaction }: Estimate): string {
  if (bytesPerTransaction === undefined) return UNKNOWN_UNTIL_EXPORT
  const each = `${formatBytes(bytesPerTransaction)} a transaction`
  return bytes === undefined
    ? `${each}; how many is ${UNKNOWN_UNTIL_PAGE}`
    : `about ${formatBytes(bytes)}: ${each}`
}

/** The requests for fees, which come on top of the others: also for exported fees that are upper bounds. */
function feeLines(job: Job, upperBounds: number): string[] {
  const fees = feeRequestsOf(job)
  if (fees === undefined) return []
  const { probes, maxDetails } = fees
  if (maxDetails !== undefined)
    return [
      `  fees   at most ${formatInteger(probes + maxDetails)} more requests: ${probes} probes, then details`,
    ]
  if (upperBounds === 0) return ['  fees   one more request for each type-2 transaction that a wallet sent']
  return [
    `  fees   at most ${formatCount(upperBounds, 'more request')} for exported fees that are upper bounds,`,
    '         and one for each new type-2 transaction that a wallet sent',
  ]
}

/** What the listing of internal transactions costs beyond the first request of each range. */
function internalsLines({ kind, internals }: Job): string[] {
  if (kind === 'blocks' || internals !== 'full') return []
  return [
    '  calls  internals: 1 more request per 100 internal transactions, and 1 for each',
    '         transaction that only their listing names',
  ]
}

/** The time at the quota of the key, if it is known. */
function quotaTimeText(cost: Cost | undefined, { service }: Job): string | undefined {
  if (cost === undefined) return undefined
  const { meter, minUnits, units = minUnits, maxUnits } = cost
  const times = (maxUnits === undefined ? [units] : [minUnits, maxUnits]).map((count) =>
    timeAtQuota(count, meter),
  )
  if (times.some((time) => time === undefined)) return undefined
  const range = times.map((ms = 0) => formatDuration(ms)).join(' to ')
  const tier = service.tier === undefined ? '' : ` (tier ${service.tier})`
  const word = cost.units === undefined ? 'at least' : 'about'
  return `${word} ${range} at ${formatInteger(meter.perMinute ?? 0)} units a minute${tier}`
}

/** The time at the rate of the last run. */
function pastTimeText(estimate: Estimate, { concurrency }: Job): string {
  const { minRequests, maxRequests, perSecond = 0, seconds } = estimate
  if (seconds === undefined) return UNKNOWN_UNTIL_PAGE
  const times = maxRequests === undefined ? [seconds] : [minRequests / perSecond, maxRequests / perSecond]
  const range = times.map((time) => formatDuration(time * 1000)).join(' to ')
  return `about ${range}: ${perSecond.toFixed(1)} requests/s as in the last run, up to ${concurrency} at once`
}

/** The requests that reconciling takes: predicted from the ledger of an existing local export, else the minimum. */
export async function reconcileRequests(job: Job, isExported: boolean): Promise<number> {
  const source = sourceOf(job.service.api)
  const minPerWallet = source.balanceRequests({
    fromBlock: job.startBlock,
    countOf: (kind) => (kind === 'native' ? 1 : 0),
  })
  return isExported && job.store === undefined
    ? predictReconcile(job.output, source)
    : minPerWallet * job.wallets.length
}

export async function reconcileLine(job: Job, isExported: boolean): Promise<string> {
  const requests = await reconcileRequests(job, isExported)
  const each = meterOf(job)?.costs.balances
  const units = each === undefined ? '' : ` (${formatCount(requests * each, 'compute unit')})`
  return `  check  at least ${formatCount(requests, 'request')}${units} to reconcile`
}
