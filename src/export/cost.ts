import type { Job } from '../core/model/model.ts'
import { DAY_MS } from '../core/model/utc.ts'
import { sourceOf } from '../sources/index.ts'
import type { Meter } from '../sources/service-access.ts'
import type { Estimate } from './estimate.ts'
import { MAX_PROBES } from './fees/probe.ts'
import { mainOperation, meterOf } from './quota.ts'

/** What a run costs in compute units, according to its estimate. Unknown values are undefined. */
export type Cost = {
  meter: Meter
  minUnits: number
  units: number | undefined
  maxUnits: number | undefined
}

/** Undefined if the source counts requests only. */
export function costOf(job: Job, estimate: Estimate): Cost | undefined {
  const { minRequests, internals, requests, maxRequests, atomicRequests = 0 } = estimate
  const meter = meterOf(job)
  if (meter === undefined) return undefined
  const each = meter.costs[mainOperation(job)]
  const otherUnits = internals * (meter.costs.internals - each) + atomicRequests * meter.costs.atomic
  const unitsOf = (count: number) => count * each + otherUnits
  return {
    meter,
    minUnits: unitsOf(minRequests),
    units: requests && unitsOf(requests),
    maxUnits: maxRequests && unitsOf(maxRequests),
  }
}

/**
 * Milliseconds that units take at the quota of a meter; undefined if it is unknown. Each day's budget that is used up
 * takes a day.
 */
export function timeAtQuota(
  units: number,
  { perMinute, perDay }: Pick<Meter, 'perMinute' | 'perDay'>,
): number | undefined {
  if (perMinute === undefined) return undefined
  const days = perDay === undefined ? 0 : Math.floor(Math.max(0, units - 1) / perDay)
  const rest = units - days * (perDay ?? 0)
  return days * DAY_MS + (rest / perMinute) * 60_000
}

/**
 * The requests that the fees of a run can take beside its pages: to probe what the listing shows, and for the
 * details of transactions. Undefined if there are none.
 */
export type FeeRequests = {
  probes: number
  /** Undefined if there is no limit: one for each transaction of type 2 and later that a wallet sent. */
  maxDetails: number | undefined
}

export function feeRequestsOf({ kind, fees, feesBudget, service }: Job): FeeRequests | undefined {
  if (kind === 'blocks' || fees === 'listed' || sourceOf(service.api).readFee === undefined) return undefined
  return fees === 'exact'
    ? { probes: 0, maxDetails: undefined }
    : { probes: MAX_PROBES, maxDetails: feesBudget }
}
