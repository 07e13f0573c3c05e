import type { MeteredOperation, QuotaSettings, Tier } from '../../core/model/compute-units.ts'
import type { Meter } from '../service-access.ts'

/**
 * The cost of requests in compute units, in which the quotas of the Avalanche Data API are stated. A job can override each
 * cost and each limit.
 *
 * To add an operation, add its name to `METERED_OPERATIONS` of core/model/compute-units.ts, its cost here, and a pattern
 * of its requests below.
 */
const COSTS: Readonly<Record<MeteredOperation, number>> = {
  listing: 20,
  block: 20,
  transaction: 20,
  internals: 20,
  atomic: 100,
  balances: 20,
  chains: 1,
  reindex: 10,
  webhookRead: 10,
  webhookWrite: 20,
}

/** The documented quotas, in compute units. */
const TIER_QUOTAS: Readonly<Record<Tier, { perMinute: number; perDay: number }>> = {
  none: { perMinute: 6_000, perDay: 1_200_000 },
  free: { perMinute: 8_000, perDay: 2_000_000 },
  base: { perMinute: 10_000, perDay: 3_750_000 },
  growth: { perMinute: 14_000, perDay: 11_200_000 },
  pro: { perMinute: 20_000, perDay: 25_000_000 },
}

/** The operation of a request: the first entry that matches its method and path. */
const PATTERNS: readonly (readonly [method: RegExp, path: RegExp, operation: MeteredOperation])[] = [
  [/^POST$/, /:reindex$/, 'reindex'],
  [/^GET$/, /^\/v1\/webhooks\b/, 'webhookRead'],
  [/^/, /^\/v1\/webhooks\b/, 'webhookWrite'],
  [/^/, /\/balances:\w+$/, 'balances'],
  [/^/, /\/transactions:listInternals$/, 'internals'],
  [/^/, /^\/v1\/networks\//, 'atomic'],
  [/^/, /\/blocks\//, 'block'],
  [/^/, /\/addresses\/[^/]+\/transactions$/, 'listing'],
  [/^/, /\/transactions\/[^/]+$/, 'transaction'],
  [/^/, /^\/v1\/chains(\/[^/]+)?$/, 'chains'],
]

/**
 * Share of a known quota that is used: requests arrive with varying delays, and one too many within a minute would be
 * refused.
 */
const USED_SHARE = 0.99

const MINUTE_MS = 60_000

/** Creates the meter of a service. An unknown request counts as a listing. */
export function createMeter(settings: QuotaSettings): Meter {
  const quota = settings.tier === undefined ? undefined : TIER_QUOTAS[settings.tier]
  const costs = { ...COSTS, ...settings.computeUnits }
  const perMinute = settings.computeUnitsPerMinute ?? quota?.perMinute
  return {
    costs,
    perMinute,
    perDay: settings.computeUnitsPerDay ?? quota?.perDay,
    unitsOf: ({ method, path }) => costs[operationOf(method, path)],
    requestsPerMs: (operation) =>
      perMinute === undefined || costs[operation] === 0
        ? undefined
        : (USED_SHARE * perMinute) / costs[operation] / MINUTE_MS,
  }
}

function operationOf(method: string, path: string): MeteredOperation {
  const pattern = PATTERNS.find(([methods, paths]) => methods.test(method) && paths.test(path))
  return pattern?.[2] ?? 'listing'
}
