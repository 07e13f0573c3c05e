/** The service's decision on a request. Times in milliseconds. */
export type Verdict = {
  granted: boolean
  waitMs: number
  remaining: number | undefined
  resetMs: number | undefined
}

export type QuotaService = {
  request(now: number): Verdict
  /** Maximum number of requests that it could have granted by then. */
  supplyUntil(now: number): number
}

export const noQuota: QuotaService = {
  request: () => ({ granted: true, waitMs: 0, remaining: undefined, resetMs: undefined }),
  supplyUntil: () => Number.POSITIVE_INFINITY,
}

/** A token bucket: `perSecond` tokens are refilled per second, up to a burst capacity of `burst`. */
export function tokenBucket({ perSecond, burst }: { perSecond: number; burst: number }): QuotaService {
  let tokens = burst
  let at = 0
  return {
    request: (now) => {
      tokens = Math.min(burst, tokens + ((now - at) * perSecond) / 1000)
      at = now
      const granted = tokens >= 1 - 1e-9
      const waitMs = granted ? 0 : ((1 - tokens) * 1000) / perSecond
      if (granted) tokens = Math.max(0, tokens - 1)
      return { granted, waitMs, remaining: Math.floor(tokens), resetMs: undefined }
    },
    supplyUntil: (now) => burst + (now * perSecond) / 1000,
  }
}

/** A fixed-window quota: `limit` requests per window. The first window began `begunMs` before time 0. */
export function fixedWindow({
  limit,
  windowMs,
  begunMs = 0,
}: {
  limit: number
  windowMs: number
  begunMs?: number
}): QuotaService {
  let window = 0
  let used = 0
  return {
    request: (now) => {
      const current = Math.floor((now + begunMs) / windowMs)
      if (current !== window) used = 0
      window = current
      const resetMs = (current + 1) * windowMs - begunMs - now
      const granted = used < limit
      if (granted) used += 1
      return { granted, waitMs: granted ? 0 : resetMs, remaining: limit - used, resetMs }
    },
    supplyUntil: (now) => (limit * (now + windowMs)) / windowMs,
  }
}
