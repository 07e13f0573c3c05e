import { ExportError } from '../core/model/errors.ts'
import type { DataServiceOptions } from './data-service.ts'
import { HttpError } from './http-error.ts'

export type QuotaResult = { readonly headers: Record<string, string>; readonly error?: HttpError }

/**
 * Creates the quota of requests: one token bucket for each key. The verdict's headers go on the answer, good or
 * bad: `ratelimit-policy`, `-limit` and `-remaining`; over the quota also `ratelimit-reset` and `retry-after`, in
 * whole seconds, after which one more request is let in. A refused request costs nothing.
 */
export function createQuotaLimiter({ quota, now = () => performance.now() }: DataServiceOptions) {
  if (!quota) return (): QuotaResult => ({ headers: {} })
  const { perSecond } = quota
  const burst = quota.burst ?? Math.ceil(perSecond)
  if (!(perSecond > 0 && burst >= 1)) {
    throw new ExportError(
      'USAGE',
      `a quota of ${perSecond} requests a second, burst ${burst}, lets nothing in`,
    )
  }
  const buckets = new Map<number, Bucket>()

  return (key: number): QuotaResult => {
    const bucket = refill(buckets.get(key), { perSecond, burst, nowMs: now() })
    const isAllowed = bucket.tokens >= 1 - ROUNDING
    if (isAllowed) bucket.tokens = Math.max(0, bucket.tokens - 1)
    buckets.set(key, bucket)
    const headers = {
      'ratelimit-policy': `${burst};w=${Math.ceil(burst / perSecond)}`,
      'ratelimit-limit': String(burst),
      'ratelimit-remaining': String(Math.floor(bucket.tokens + ROUNDING)),
    }
    return isAllowed ? { headers } : tooManyRequests(headers, Math.ceil((1 - bucket.tokens) / perSecond))
  }
}

/** `tokens` is how many requests were left at `atMs`; a fraction grows into a whole one. */
type Bucket = { tokens: number; atMs: number }
type Refill = { perSecond: number; burst: number; nowMs: number }

/** Tokens are fractions: waiting exactly as long as we said must suffice. */
const ROUNDING = 1e-9

function refill(bucket: Bucket | undefined, { perSecond, burst, nowMs }: Refill): Bucket {
  if (!bucket) return { tokens: burst, atMs: nowMs }
  const refilled = (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond
  return { tokens: Math.min(burst, bucket.tokens + refilled), atMs: nowMs }
}

function tooManyRequests(headers: Record<string, string>, waitSeconds: number): QuotaResult {
  const wait = String(Math.max(1, waitSeconds))
  const error = new HttpError(429, `Too many requests: ask again in ${wait} s.`)
  return { headers: { ...headers, 'ratelimit-reset': wait, 'retry-after': wait }, error }
}
