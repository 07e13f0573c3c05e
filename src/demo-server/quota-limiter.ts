import { ExportError } from '../core/model/errors.ts'
import type { DataServiceOptions } from './data-service.ts'
import { HttpError } from './http-error.ts'

export type QuotaResult = { readonly headers: Record<string, string>; readonly error?: HttpError }

/**
 * Creates the request quota: one token bucket per API key. The returned headers belong on every response:
 * `ratelimit-policy`, `ratelimit-limit` and `ratelimit-remaining`; beyond the quota also `ratelimit-reset` and
 * `retry-after`, the whole seconds after which one more request is accepted. A rejected request takes no token.
 *
 * @throws `USAGE` if the quota would allow no requests
 */
export function createQuotaLimiter({ quota, now = () => performance.now() }: DataServiceOptions) {
  if (!quota) return (): QuotaResult => ({ headers: {} })
  const { perSecond } = quota
  const burst = quota.burst ?? Math.ceil(perSecond)
  if (!(perSecond > 0 && burst >= 1)) {
    throw new ExportError(
      'USAGE',
      `a quota of ${perSecond} requests per second with burst ${burst} allows no requests`,
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

/** `tokens` is the number of requests left at `atMs`, a fraction included. */
type Bucket = { tokens: number; atMs: number }
type Refill = { perSecond: number; burst: number; nowMs: number }

/** Tolerance for floating-point errors: a client that waits exactly as long as `retry-after` must be accepted. */
const ROUNDING = 1e-9

function refill(bucket: Bucket | undefined, { perSecond, burst, nowMs }: Refill): Bucket {
  if (!bucket) return { tokens: burst, atMs: nowMs }
  const refilled = (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond
  return { tokens: Math.min(burst, bucket.tokens + refilled), atMs: nowMs }
}

/** The result for a request beyond a quota, which may be sent again after this time. */
export function tooManyRequests(headers: Record<string, string>, waitSeconds: number): QuotaResult {
  const wait = String(Math.max(1, waitSeconds))
  const error = new HttpError(429, `Too many requests: retry in ${wait} s.`)
  return { headers: { ...headers, 'ratelimit-reset': wait, 'retry-after': wait }, error }
}
