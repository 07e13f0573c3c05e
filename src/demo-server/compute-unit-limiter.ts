import { DAY_MS } from '../core/model/utc.ts'
import type { DataServiceOptions } from './data-service.ts'
import type { OperationName } from './operations.ts'
import { type QuotaResult, tooManyRequests } from './quota-limiter.ts'

/** Takes the compute units of an operation from the quota of the API key with this index. */
export type ChargeUnits = (operation: OperationName, key: number) => QuotaResult

/** The tier `free` of the Avalanche Data API. */
const FREE_TIER = { perMinute: 8_000, perDay: 2_000_000 }
const MINUTE_MS = 60_000

/** Compute units of the operations that do not cost `DEFAULT_UNITS`. */
const UNITS: Readonly<Partial<Record<OperationName, number>>> = {
  listChains: 1,
  showChain: 1,
  reindexToken: 10,
  listWebhooks: 10,
  showWebhook: 10,
  listAddresses: 10,
  showSecret: 10,
}
const DEFAULT_UNITS = 20

/**
 * Creates the quota of the quirk `compute-units`: units per minute and per day and API key, in windows that begin with the
 * first request. The headers count units, and times are whole seconds. A rejected request takes no units; the
 * `retry-after` of an exhausted day is a matter of hours.
 */
export function createUnitLimiter({
  quirks = [],
  unitQuota = FREE_TIER,
  now = () => performance.now(),
}: DataServiceOptions): ChargeUnits {
  if (!quirks.includes('compute-units')) return () => ({ headers: {} })
  const usage = new Map<number, { minute: Window; day: Window }>()
  return (operation, key) => {
    const nowMs = now()
    const before = usage.get(key)
    const minute = currentWindow(before?.minute, { nowMs, lengthMs: MINUTE_MS })
    const day = currentWindow(before?.day, { nowMs, lengthMs: DAY_MS })
    usage.set(key, { minute, day })
    const units = UNITS[operation] ?? DEFAULT_UNITS
    const blocking = [
      ...(day.used + units > unitQuota.perDay ? [day.endMs] : []),
      ...(minute.used + units > unitQuota.perMinute ? [minute.endMs] : []),
    ]
    if (blocking.length === 0) for (const window of [minute, day]) window.used += units
    const headers = {
      'ratelimit-policy': `${unitQuota.perMinute};w=60`,
      'ratelimit-limit': String(unitQuota.perMinute),
      'ratelimit-remaining': String(unitQuota.perMinute - minute.used),
    }
    const [waitUntilMs] = blocking
    return waitUntilMs === undefined
      ? { headers }
      : tooManyRequests(headers, Math.ceil((waitUntilMs - nowMs) / 1000))
  }
}

type Window = { used: number; endMs: number }

function currentWindow(
  window: Window | undefined,
  { nowMs, lengthMs }: { nowMs: number; lengthMs: number },
): Window {
  if (window === undefined) return { used: 0, endMs: nowMs + lengthMs }
  if (nowMs < window.endMs) return window
  const passed = Math.floor((nowMs - window.endMs) / lengthMs) + 1
  return { used: 0, endMs: window.endMs + passed * lengthMs }
}
