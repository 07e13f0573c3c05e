// Share of an unknown quota that a run uses, and share of refused requests: 32 readers with the rate limiter and the
// client. Baseline: the same readers without the rate limiter, each of which only pauses itself after a 429.
// Usage: npm run bench -- quota [seconds of each run, default 55]
import { spawn } from 'node:child_process'
import { once, setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../../dist/http/http-client.js'
import { createRateLimiter } from '../../dist/http/rate-limit/rate-limiter.js'
import { request } from '../../dist/http/request.js'

const SERVICE = new URL('./quota-service.js', import.meta.url).pathname
const READERS = 32
const PAGE = { method: 'GET', pathAndQuery: '/page', description: 'a page' }
const delayMs = [60, 120]
const bucket = { perSecond: 40, burst: 20, delayMs }

const CASES = {
  '40/s, burst 20, Retry-After in seconds': { ...bucket, retryAfter: 'seconds' },
  '40/s, burst 20, Retry-After as a date': { ...bucket, retryAfter: 'date' },
  '40/s, burst 20, no Retry-After': { ...bucket, retryAfter: 'nothing' },
  '40/s, burst 20, ratelimit headers': { ...bucket, rateLimitHeaders: true },
  '40/s, burst 20, another client on and off': { ...bucket, otherMs: 15_000 },
  '40 per second, fixed window': { limit: 40, windowMs: 1_000, delayMs },
  '100 in 10 s, fixed window, ratelimit headers': {
    limit: 100,
    windowMs: 10_000,
    delayMs,
    rateLimitHeaders: true,
  },
  '5/s, burst 5': { perSecond: 5, burst: 5, delayMs },
  '300/s, burst 300': { perSecond: 300, burst: 300, delayMs },
}
const SEQUENTIAL_CASES = {
  '1000/s, burst 100, no delay': { perSecond: 1_000, burst: 100 },
  'no quota, 100 ms': { delayMs: [100, 100] },
  'no quota, no delay': {},
}

export async function benchQuota(seconds = 55) {
  const service = spawn(process.execPath, [SERVICE])
  try {
    const [line] = await once(service.stdout, 'data')
    const url = String(line).trim()
    const together = [
      ...Object.entries(CASES).map(([name, quota]) => measure({ name, quota, url, seconds })),
      measure({
        name: 'baseline without the rate limiter',
        quota: { ...bucket, run: 2 },
        url,
        seconds,
        withoutLimiter: true,
      }),
    ]
    const rows = await Promise.all(together)
    for (const [name, quota] of Object.entries(SEQUENTIAL_CASES))
      rows.push(await measure({ name, quota, url, seconds: Math.min(20, seconds) }))
    console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])))
  } finally {
    service.kill()
  }
}

/** A client without a rate limiter: only the refused reader waits for Retry-After; the others continue. */
function naiveLimiter() {
  let pausedUntil = 0
  const report = ({ kind, retryAfterMs = 1_000 }) => {
    if (kind === 'throttled') pausedUntil = performance.now() + retryAfterMs
  }
  const acquire = async () => {
    await setTimeout(Math.max(0, pausedUntil - performance.now()))
    return report
  }
  return { acquire, pausedForMs: () => 0 }
}

async function measure({ name, quota, url, seconds, withoutLimiter = false }) {
  const counts = { sent: 0, refused: 0, answered: 0 }
  const client = createClient({
    baseUrl: `${url}/${encodeURIComponent(JSON.stringify(quota))}`,
    apiKey: undefined,
    apiKeyHeader: 'x-service-api-key',
    timeoutMs: 30_000,
    connections: READERS,
  })
  const { signal } = new AbortController()
  setMaxListeners(0, signal)
  const shared = createRateLimiter()
  const requestContext = {
    client,
    limit: (task) => task(),
    signal,
    onEvent: ({ kind }) => {
      if (kind === 'sent') counts.sent += 1
      if (kind === 'throttled') counts.refused += 1
    },
  }
  const began = performance.now()
  const until = began + seconds * 1000
  let last = began
  const reader = async () => {
    const reader = { ...requestContext, rateLimiter: withoutLimiter ? naiveLimiter() : shared }
    while (performance.now() < until) {
      await request(reader, PAGE, () => ({}))
      counts.answered += 1
      last = performance.now()
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  await client.close()
  return { name, ...describe({ counts, quota, ms: last - began }) }
}

function describe({ counts: { answered, refused }, quota: { perSecond, burst, limit, windowMs }, ms }) {
  const supply = perSecond
    ? burst + (perSecond * ms) / 1000
    : limit
      ? limit + (limit * ms) / windowMs
      : undefined
  return {
    answered,
    'per second': Math.round(answered / (ms / 1000)),
    'quota used %': supply === undefined ? '' : ((100 * answered) / supply).toFixed(1),
    'refused %': ((100 * refused) / (answered + refused)).toFixed(2),
  }
}
