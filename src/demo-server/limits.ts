import { createHash, timingSafeEqual } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import { DAY_MS } from '../core/model/utc.ts'
import type { DataServiceOptions, ServiceRequest } from './data-service.ts'
import { HttpError } from './http-error.ts'

/**
 * Creates the function that checks the API key of a request. It returns the index of the key in `keys`, or 0 if no keys are
 * configured.
 *
 * The duration of the check does not depend on the keys: it compares digests in constant time, and always all of them.
 *
 * @throws `HttpError` 401 without a key, 403 with a key that is not in `keys`
 */
export function createKeyAuthenticator({ keys = [], keyHeader = 'x-service-api-key' }: DataServiceOptions) {
  if (keys.includes('')) throw new ExportError('USAGE', 'an API key of the service is empty')
  const digest = (key: string) => createHash('sha256').update(key).digest()
  const digests = keys.map(digest)
  const header = keyHeader.toLowerCase()

  return (headers: ServiceRequest['headers']): number => {
    if (digests.length === 0) return 0
    const key = headers[header]
    if (!key) throw new HttpError(401, `This service requires an API key in the header ${header}.`)
    const presented = digest(key)
    const matches = digests.map((accepted) => timingSafeEqual(accepted, presented))
    if (!matches.includes(true)) throw new HttpError(403, `The API key in the header ${header} is not valid.`)
    return matches.indexOf(true)
  }
}

/**
 * Creates the request quota: one token bucket per API key. It returns headers that belong on every response:
 * `ratelimit-policy`, `ratelimit-limit` and `ratelimit-remaining`. A rejected request takes no token.
 *
 * @throws `USAGE` if the quota would allow no requests; `HttpError` 429, from the returned function, beyond the quota
 */
export function createQuotaLimiter({ quota, now = () => performance.now() }: DataServiceOptions) {
  if (!quota) return () => ({})
  const { perSecond, burst = Math.ceil(perSecond) } = quota
  if (!(perSecond > 0 && burst >= 1)) {
    throw new ExportError(
      'USAGE',
      `a quota of ${perSecond} requests per second with burst ${burst} allows no requests`,
    )
  }
  /** `tokens` is the number of requests left at `atMs`, a fraction included. */
  const buckets = new Map<number, { tokens: number; atMs: number }>()

  return (key: number): Record<string, string> => {
    const atMs = now()
    const before = buckets.get(key) ?? { tokens: burst, atMs }
    const refilled = (Math.max(0, atMs - before.atMs) / 1000) * perSecond
    const available = Math.min(burst, before.tokens + refilled)
    const isAllowed = available >= 1 - ROUNDING
    const tokens = isAllowed ? Math.max(0, available - 1) : available
    buckets.set(key, { tokens, atMs })
    const headers = {
      'ratelimit-policy': `${burst};w=${Math.ceil(burst / perSecond)}`,
      'ratelimit-limit': String(burst),
      'ratelimit-remaining': String(Math.floor(tokens + ROUNDING)),
    }
    if (isAllowed) return headers
    throw tooManyRequests(headers, (1 - tokens) / perSecond)
  }
}

/** Tolerance for floating-point errors: a client that waits exactly as long as `retry-after` must be accepted. */
const ROUNDING = 1e-9

/** The tier `free` of the Avalanche Data API. */
const FREE_TIER = { perMinute: 8_000, perDay: 2_000_000 }

/**
 * Creates the quota of the quirk `compute-units`: units per minute and per day and API key, in windows that begin with the
 * first request. The headers count units. A rejected request takes no units; the `retry-after` of an exhausted day is a
 * matter of hours.
 *
 * @throws `HttpError` 429, from the returned function, beyond the quota
 */
export function createUnitLimiter({
  quirks = [],
  unitQuota: { perMinute, perDay } = FREE_TIER,
  now = () => performance.now(),
}: DataServiceOptions) {
  if (!quirks.includes('compute-units')) return () => ({})
  const windowsByKey = new Map<number, Window[]>()

  return (units: number, key: number): Record<string, string> => {
    const nowMs = now()
    const minute = { lengthMs: 60_000, max: perMinute, used: 0, endMs: nowMs + 60_000 }
    const day = { lengthMs: DAY_MS, max: perDay, used: 0, endMs: nowMs + DAY_MS }
    const windows = (windowsByKey.get(key) ?? [day, minute]).map((window) => renew(window, nowMs))
    const exhausted = windows.find(({ used, max }) => used + units > max)
    if (exhausted === undefined) for (const window of windows) window.used += units
    windowsByKey.set(key, windows)
    const headers = {
      'ratelimit-policy': `${perMinute};w=60`,
      'ratelimit-limit': String(perMinute),
      'ratelimit-remaining': String(perMinute - (windows.at(-1)?.used ?? 0)),
    }
    if (exhausted === undefined) return headers
    throw tooManyRequests(headers, (exhausted.endMs - nowMs) / 1000)
  }
}

type Window = { readonly lengthMs: number; readonly max: number; used: number; readonly endMs: number }

function renew(window: Window, nowMs: number): Window {
  const { endMs, lengthMs } = window
  if (nowMs < endMs) return window
  return { ...window, used: 0, endMs: endMs + (Math.floor((nowMs - endMs) / lengthMs) + 1) * lengthMs }
}

/** Rejects a request beyond a quota, which may be sent again after this time. Headers state whole seconds. */
function tooManyRequests(headers: Record<string, string>, waitSeconds: number): HttpError {
  const wait = String(Math.max(1, Math.ceil(waitSeconds)))
  const waitHeaders = { 'ratelimit-reset': wait, 'retry-after': wait }
  return new HttpError(429, `Too many requests: retry in ${wait} s.`, { ...headers, ...waitHeaders })
}
