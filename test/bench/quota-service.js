// A loopback service with a quota that returns empty pages. Prints its base URL. The first path segment is JSON with
// options:
//   perSecond, burst: token bucket; limit, windowMs: fixed window; without these, no limit
//   retryAfter: form of Retry-After, 'seconds' (default), 'date' or 'nothing'
//   rateLimitHeaders: true to send ratelimit headers with every response
//   delayMs: [min, max] delay of each response
//   otherMs: another client uses half of the quota during every second period of this length
//   otherShare: another client constantly uses this share of the quota
import { createServer } from 'node:http'

const quotas = new Map()

function quotaOf(text) {
  if (!quotas.has(text)) quotas.set(text, createQuota(JSON.parse(text)))
  return quotas.get(text)
}

function createQuota(options) {
  const take = options.perSecond ? bucket(options) : options.limit ? fixedWindow(options) : unlimited
  if (options.otherMs) shareWithOther(take, options)
  if (options.otherShare) setInterval(take, 1000 / (options.perSecond * options.otherShare)).unref()
  return { options, take }
}

function bucket({ perSecond, burst }) {
  let [tokens, at] = [burst, performance.now()]
  return () => {
    const now = performance.now()
    tokens = Math.min(burst, tokens + ((now - at) / 1000) * perSecond)
    at = now
    if (tokens < 1) return { waitMs: ((1 - tokens) / perSecond) * 1000, remaining: 0 }
    tokens -= 1
    return { granted: true, remaining: Math.floor(tokens) }
  }
}

function fixedWindow({ limit, windowMs }) {
  let [window, used] = [-1, 0]
  return () => {
    const now = performance.now()
    const current = Math.floor(now / windowMs)
    if (current !== window) [window, used] = [current, 0]
    const resetMs = (current + 1) * windowMs - now
    if (used >= limit) return { waitMs: resetMs, remaining: 0, resetMs }
    used += 1
    return { granted: true, remaining: limit - used, resetMs }
  }
}

const unlimited = () => ({ granted: true })

function shareWithOther(take, { perSecond, otherMs }) {
  const began = performance.now()
  setInterval(() => {
    if (Math.floor((performance.now() - began) / otherMs) % 2 === 1) take()
  }, 2000 / perSecond).unref()
}

const RETRY_AFTER = {
  seconds: (waitMs) => ({ 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) }),
  date: (waitMs) => ({
    'retry-after': new Date(Math.ceil((Date.now() + waitMs) / 1000) * 1000).toUTCString(),
  }),
  nothing: () => ({}),
}

function headersOf(
  { granted, waitMs, remaining, resetMs },
  { retryAfter = 'seconds', rateLimitHeaders, limit, burst },
) {
  const headers = granted ? {} : RETRY_AFTER[retryAfter](waitMs)
  if (rateLimitHeaders) {
    headers['ratelimit-limit'] = String(limit ?? burst)
    headers['ratelimit-remaining'] = String(remaining)
    if (resetMs !== undefined) headers['ratelimit-reset'] = String(Math.ceil(resetMs / 1000))
  }
  return headers
}

const server = createServer((request, response) => {
  const { options, take } = quotaOf(decodeURIComponent(request.url.split('/')[1]))
  const decision = take()
  const respond = () => {
    response.writeHead(decision.granted ? 200 : 429, headersOf(decision, options))
    response.end('{"transactions":[]}')
  }
  const [minDelayMs, maxDelayMs] = options.delayMs ?? [0, 0]
  if (maxDelayMs === 0) respond()
  else setTimeout(respond, minDelayMs + Math.random() * (maxDelayMs - minDelayMs))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
