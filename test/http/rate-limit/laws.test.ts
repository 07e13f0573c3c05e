import { expect, test } from 'vitest'
import { testSample } from '../../helpers/test-sample.ts'
import { asDate, inSeconds, omitted, type Report, type Simulation, simulate } from './crowd.ts'
import { fixedWindow, noQuota, type QuotaService, tokenBucket } from './quota-service.ts'

const SEEDS = [1, 2, 3, 4]
const POLICIES = [
  { retryAfter: inSeconds, form: 'in seconds', maxThrottled: 0.01 },
  { retryAfter: asDate, form: 'as a date', maxThrottled: 0.01 },
  { retryAfter: omitted, form: 'not at all', maxThrottled: 0.03 },
]
const fortyPerSecond = () => tokenBucket({ perSecond: 40, burst: 20 })

/** Requests that were sent during a pause. */
function early({ sent, pauses }: Report): number {
  return sent.filter((at) => pauses.some(({ from, until }) => at > from && at < until)).length
}

/** The maximum number of requests sent within `ms` milliseconds, from `since` on. */
function mostWithin({ sent }: Report, { ms, since = 0 }: { ms: number; since?: number }): number {
  const counted = sent.filter((at) => at >= since)
  return counted.reduce((most, from, nth) => {
    const end = counted.findIndex((at, later) => later > nth && at > from + ms)
    return Math.max(most, (end === -1 ? counted.length : end) - nth)
  }, 0)
}

const cases = POLICIES.flatMap((policy) => SEEDS.map((seed) => ({ ...policy, seed })))

test.for(cases)(
  'uses 95 % of an unknown quota when Retry-After is stated $form, seed $seed',
  async ({ retryAfter, maxThrottled, seed }) => {
    const report = await simulate({ service: fortyPerSecond(), requests: 2_200, retryAfter, seed })
    expect(report.used).toBeGreaterThan(0.95)
    expect(report.throttledShare).toBeLessThan(maxThrottled)
    expect(early(report)).toBe(0)
    // Permits are 25 ms apart: one that is due, and one that becomes due as a pause ends.
    expect(mostWithin(report, { ms: 20, since: report.pauses[0]?.from ?? 0 })).toBeLessThanOrEqual(2)
  },
)

type Law = Omit<Simulation, 'service'> & {
  quota: string
  service: () => QuotaService
  minUsed: number
  maxThrottled: number
}

const LAWS: Law[] = [
  {
    quota: '1/s',
    service: () => tokenBucket({ perSecond: 1, burst: 1 }),
    requests: 200,
    minUsed: 0.75,
    maxThrottled: 0.05,
  },
  {
    quota: '5/s, burst capacity 5',
    service: () => tokenBucket({ perSecond: 5, burst: 5 }),
    requests: 600,
    minUsed: 0.95,
    maxThrottled: 0.03,
  },
  {
    quota: '300/s, burst capacity 300',
    service: () => tokenBucket({ perSecond: 300, burst: 300 }),
    requests: 9_000,
    minUsed: 0.9,
    maxThrottled: 0.01,
  },
  {
    quota: '1000/s, burst capacity 100',
    service: () => tokenBucket({ perSecond: 1_000, burst: 100 }),
    requests: 20_000,
    delayMs: [1, 4],
    minUsed: 0.8,
    maxThrottled: 0.01,
  },
  {
    quota: '300 per one-minute window',
    service: () => fixedWindow({ limit: 300, windowMs: 60_000 }),
    requests: 1_500,
    minUsed: 0.8,
    maxThrottled: 0.04,
  },
  {
    quota: '40 per one-second window',
    service: () => fixedWindow({ limit: 40, windowMs: 1_000, begunMs: 300 }),
    requests: 2_200,
    minUsed: 0.75,
    maxThrottled: 0.02,
  },
  {
    quota: '40/s with late timers',
    service: fortyPerSecond,
    requests: 2_200,
    lateMs: 60,
    minUsed: 0.94,
    maxThrottled: 0.01,
  },
  {
    quota: '40/s without Retry-After, 4 readers',
    service: fortyPerSecond,
    requests: 2_200,
    readers: 4,
    retryAfter: omitted,
    minUsed: 0.95,
    maxThrottled: 0.01,
  },
  {
    quota: '40/s that another client halves from time to time',
    service: fortyPerSecond,
    requests: 2_500,
    otherPerSecond: (now) => (Math.floor(now / 30_000) % 2) * 20,
    minUsed: 0.8,
    maxThrottled: 0.02,
  },
  {
    quota: '40/s that reports the remaining quota',
    service: fortyPerSecond,
    requests: 2_200,
    reports: 'remaining',
    minUsed: 0.95,
    maxThrottled: 0.005,
  },
  {
    quota: '300/s, burst capacity 20, that reports the remaining quota',
    service: () => tokenBucket({ perSecond: 300, burst: 20 }),
    requests: 6_000,
    reports: 'remaining',
    minUsed: 0.9,
    maxThrottled: 0.005,
  },
  {
    quota: '300 per one-minute window, that reports the reset time',
    service: () => fixedWindow({ limit: 300, windowMs: 60_000 }),
    requests: 1_500,
    reports: 'reset',
    minUsed: 0.8,
    maxThrottled: 0.005,
  },
]

testSample(
  Math.ceil(LAWS.length / 2),
  [...LAWS].sort((a, b) => a.requests - b.requests),
  'stays within a quota of $quota and wastes little of it',
  async ({ service, minUsed, maxThrottled, ...simulation }) => {
    for (const seed of SEEDS.slice(0, 2)) {
      const report = await simulate({ ...simulation, service: service(), seed })
      expect(report.used).toBeGreaterThan(minUsed)
      expect(report.throttledShare).toBeLessThan(maxThrottled)
      expect(early(report)).toBe(0)
    }
  },
)

test('adapts to one-second windows within a minute', async () => {
  const used: number[] = []
  for (const seed of SEEDS) {
    const service = fixedWindow({ limit: 40, windowMs: 1_000, begunMs: seed * 40 })
    used.push((await simulate({ service, requests: 2_200, seed })).used)
  }
  expect(used.reduce((sum, share) => sum + share) / used.length).toBeGreaterThan(0.85)
})

test('pauses all requests for a minute when Retry-After says so', async () => {
  const retryAfter = () => 60_000
  const report = await simulate({ service: fortyPerSecond(), requests: 1_000, retryAfter })
  expect(report.throttled).toBeLessThan(20)
  expect(early(report)).toBe(0)
})

test('reaches 32 requests in flight within ten round trips without a quota', async () => {
  const { sent, seconds } = await simulate({ service: noQuota, requests: 2_400, delayMs: [100, 100] })
  expect(sent.filter((at) => at > 899 && at < 999)).toHaveLength(32)
  // 2,400 requests take at least 75 round trips of 100 ms.
  expect(seconds).toBeLessThan(8.2)
})

test('recovers quickly from a single 429 of a service without a quota', async () => {
  let requests = 0
  const service: QuotaService = {
    ...noQuota,
    request: (now) => ({ ...noQuota.request(now), granted: ++requests !== 3 }),
  }
  const { seconds } = await simulate({ service, requests: 2_400, delayMs: [100, 100] })
  expect(seconds).toBeLessThan(15)
})

test('adds only a few milliseconds to requests without a quota', async () => {
  const report = await simulate({ service: noQuota, requests: 10_000, delayMs: [1, 1] })
  expect(report.seconds).toBeLessThan(0.35)
})

test.for([1, 5, 20, 60, 200])('causes few 429s when a burst capacity of %i is exhausted', async (burst) => {
  const service = tokenBucket({ perSecond: 1, burst })
  const { throttled } = await simulate({ service, requests: burst + 1, delayMs: [100, 100] })
  expect(throttled).toBeGreaterThan(0)
  expect(throttled).toBeLessThanOrEqual(Math.max(16, 0.6 * burst))
})
