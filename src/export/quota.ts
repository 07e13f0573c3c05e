import type { MeteredOperation } from '../core/model/compute-units.ts'
import type { Job } from '../core/model/model.ts'
import { DAY_MS, utcDay } from '../core/model/utc.ts'
import { smallest } from '../core/platform/extremes.ts'
import { type DailyBudget, openDailyBudget } from '../http/run-limits.ts'
import { sourceOf } from '../sources/index.ts'
import type { Meter } from '../sources/service-access.ts'
import { readReports } from './history/past-runs.ts'

/** The meter of a job's service; undefined if the source counts requests only. */
export function meterOf({ service }: Pick<Job, 'service'>): Meter | undefined {
  return sourceOf(service.api).openMeter?.(service)
}

/** The operation that most requests of a job belong to. */
export function mainOperation({ kind }: Pick<Job, 'kind'>): MeteredOperation {
  return kind === 'blocks' ? 'block' : 'listing'
}

/**
 * The rate in requests per millisecond at which jobs that share a rate limiter can start, according to their tiers: that of
 * their main operations, of which other requests are multiples. Undefined if none is known.
 */
export function knownRateOf(jobs: readonly Pick<Job, 'kind' | 'service'>[]): number | undefined {
  const rates = jobs.map((job) => meterOf(job)?.requestsPerMs(mainOperation(job)))
  const known = rates.filter((rate) => rate !== undefined)
  return known.length === 0 ? undefined : smallest(known)
}

/**
 * Opens the daily budgets of a run. Jobs of one service share one: the lowest that any of them states, less what earlier
 * runs into their outputs used today.
 */
export async function openBudgetsOf(
  jobs: readonly Pick<Job, 'service' | 'output'>[],
): Promise<(job: Pick<Job, 'service'>) => DailyBudget> {
  const budgets = new Map<string | undefined, DailyBudget>()
  for (const { service } of jobs) {
    const { baseUrl } = service
    if (budgets.has(baseUrl)) continue
    const sharing = jobs.filter((job) => job.service.baseUrl === baseUrl)
    const limits = sharing.flatMap((job) => meterOf(job)?.perDay ?? [])
    const perDay = limits.length === 0 ? undefined : smallest(limits)
    const used = perDay === undefined ? 0 : await unitsUsedToday(sharing.map(({ output }) => output))
    budgets.set(baseUrl, openDailyBudget({ perDay, used }))
  }
  return ({ service }) => budgets.get(service.baseUrl) ?? openDailyBudget({ perDay: undefined, used: 0 })
}

/** Compute units that the runs into these outputs used in the current UTC day, according to their reports. */
export async function unitsUsedToday(outputs: readonly string[], now = Date.now()): Promise<number> {
  let units = 0
  for (const output of outputs)
    for await (const report of readReports(output)) {
      const { startedAt = '', computeUnitsByDay } = report as ReportedUnits
      if (Date.parse(startedAt) < now - MAX_RUN_DAYS * DAY_MS) break
      const reported = computeUnitsByDay?.[utcDay(now)]
      if (Number.isSafeInteger(reported)) units += Math.max(0, Number(reported))
    }
  return units
}

type ReportedUnits = { startedAt?: string; computeUnitsByDay?: Record<string, unknown> | null }

/** Reports of runs that started earlier are not read. */
const MAX_RUN_DAYS = 30
