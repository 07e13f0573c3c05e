import type { MeteredOperation } from '../core/model/compute-units.ts'
import type { Job } from '../core/model/model.ts'
import { DAY_MS, utcDay } from '../core/model/utc.ts'
import { smallest } from '../core/platform/extremes.ts'
import { type DailyBudget, openDailyBudget } from '../http/daily-budget.ts'
import { source } from '../sources/index.ts'
import type { Meter } from '../sources/source.ts'
import { readReports } from './history/past-runs.ts'

type QuotaJob = Pick<Job, 'kind' | 'fees' | 'service'> & Partial<Pick<Job, 'internals'>>

/** The meter of a job's service; undefined if the source counts requests only. */
export function meterOf({ service }: Pick<Job, 'service'>): Meter | undefined {
  return source.openMeter?.(service)
}

/** The operation that most requests of a job belong to. */
export function mainOperation({ kind }: Pick<Job, 'kind'>): MeteredOperation {
  return kind === 'blocks' ? 'block' : 'listing'
}

/**
 * The rate in requests per millisecond at which jobs that share a rate limiter can start, according to their tiers:
 * the lowest of their operations. Undefined if none is known.
 */
export function knownRateOf(jobs: readonly QuotaJob[]): number | undefined {
  const rates = jobs.flatMap((job) => operationsOf(job).map((name) => meterOf(job)?.requestsPerMs(name)))
  const known = rates.filter((rate) => rate !== undefined)
  return known.length === 0 ? undefined : smallest(known)
}

function operationsOf(job: QuotaJob): MeteredOperation[] {
  const { kind, fees, internals } = job
  if (kind === 'blocks') return [mainOperation(job)]
  if (internals === 'full') return ['listing', 'internals', 'transaction']
  return fees === 'listed' ? ['listing'] : ['listing', 'transaction']
}

/** Opens the daily budget of a run: the lowest of its jobs, less what earlier runs into their outputs used today. */
export async function openBudgetOf(
  jobs: readonly Pick<Job, 'service' | 'output'>[],
  { reserveMs = 0 } = {},
): Promise<DailyBudget> {
  const limits = jobs.flatMap((job) => {
    const { perDay, perMinute = 0 } = meterOf(job) ?? {}
    return perDay === undefined ? [] : [perDay - (perMinute * reserveMs) / 60_000]
  })
  if (limits.length === 0) return openDailyBudget({ perDay: undefined, used: 0 })
  const used = await unitsUsedToday(jobs.map(({ output }) => output))
  return openDailyBudget({ perDay: smallest(limits), used })
}

/** Compute units that the runs into these outputs used in the current UTC day, according to their reports. */
export async function unitsUsedToday(outputs: readonly string[], now = Date.now()): Promise<number> {
  let units = 0
  for (const output of outputs)
    for await (const report of readReports(output)) {
      const { startedAt = '', computeUnitsByDay = {} } = report as ReportedUnits
      if (Date.parse(startedAt) < now - MAX_RUN_DAYS * DAY_MS) break
      const reported = computeUnitsByDay[utcDay(now)]
      if (Number.isSafeInteger(reported)) units += Number(reported)
    }
  return units
}

type ReportedUnits = { startedAt?: string; computeUnitsByDay?: Record<string, unknown> }

/** Reports of runs that started earlier are not read. */
const MAX_RUN_DAYS = 30
