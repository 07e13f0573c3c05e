/** Tiers of a service, each with its own quota; `none` is the one without an API key. */
export const TIERS = ['none', 'free', 'base', 'growth', 'pro'] as const
export type Tier = (typeof TIERS)[number]

/**
 * Operations whose cost in compute units a job can set. The source knows the cost of each, and which requests
 * belong to it.
 */
export const METERED_OPERATIONS = [
  'listing',
  'block',
  'transaction',
  'internals',
  'atomic',
  'balances',
  'chains',
  'reindex',
  'webhookRead',
  'webhookWrite',
] as const
export type MeteredOperation = (typeof METERED_OPERATIONS)[number]

/** Compute units per request. */
export type UnitCosts = { readonly [operation in MeteredOperation]?: number }

/** What is known about the quota of an API key before the first request. */
export type QuotaSettings = {
  readonly tier?: Tier | undefined
  /** Override the values of the tier. */
  readonly computeUnitsPerMinute?: number | undefined
  readonly computeUnitsPerDay?: number | undefined
  /** Override the costs that the source knows. */
  readonly computeUnits?: UnitCosts | undefined
}
