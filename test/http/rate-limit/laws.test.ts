import { expect, test } from 'vitest'
import { asDate, type Crowd, inSeconds, notAtAll, type Report, runCrowd } from './crowd.ts'
import { fixedWindow, noQuota, type QuotaService, tokenBucket } from './quota-service.ts'

const SEEDS = [1, 2, 3, 4]
const TOLD = [
  { told: inSeconds, form: 'in seconds', mostRefused: 0.01 },
  { told: asDate, form: 'as a date', mostRefused: 0.01 },
  { told: notAtAll, form: 'not at all', mostRefused: 0.03 },
]
const fortyPerSecond = () => tokenBucket({ perSecond: 40, burst: 20 })

/** Requests that left while everybody had to wait. */
function early({ left, pauses }: Report): number {
  return left.filter((at) => pauses.some(({ from, until }) => at > from && at < until)).length
}

/** The most requests that left within so many milliseconds, from `since` on. */
function mostWithin({ left }: Report, { ms, since = 0 }: { ms: number; since?: number }): number {
  const counted = left.filter((at) => at >= since)
  return counted.reduce((most, from, nth) => {
    const end = counted.findIndex((at, later) => later > nth && at > from + ms)
    return Math.max(most, (end === -1 ? counted.length : end) - nth)
  }, 0)
}

const cases = TOLD.flatMap((told) => SEEDS.map((seed) => ({ ...told, seed })))

test.for(cases)(
  'uses 95 % of an unknown quota when told to wait $form, seed $seed',
  async ({ told, mostRefused, seed }) => {
    const report = await runCrowd({ service: fortyPerSecond(), requests: 2_200, told, seed })
    expect(report.used).toBeGreaterThan(0.95)
    expect(report.refusedShare).toBeLessThan(mostRefused)
    expect(early(report)).toBe(0)
    // Slots come 25 ms apart: one that is due and one that a pause's end makes due.
    expect(mostWithin(report, { ms: 20, since: report.pauses[0]?.from ?? 0 })).toBeLessThanOrEqual(2)
  },
)

type Law = Omit<Crowd, 'service'> & {
  quota: string
  service: () => QuotaService
  leastUsed: number
  mostRefused: number
}

const LAWS: Law[] = [
  {
    quota: '1 a second',
    service: () => tokenBucket({ perSecond: 1, burst: 1 }),
    requests: 200,
    leastUsed: 0.75,
    mostRefused: 0.05,
  },
  {
    quota: '5 a second, burst 5',
    service: () => tokenBucket({ perSecond: 5, burst: 5 }),
    requests: 600,
    leastUsed: 0.95,
    mostRefused: 0.03,
  },
  {
    quota: '300 a second, burst 300',
    service: () => tokenBucket({ perSecond: 300, burst: 300 }),
    requests: 9_000,
    leastUsed: 0.9,
    mostRefused: 0.01,
  },
  {
    quota: '1000 a second, burst 100',
    service: () => tokenBucket({ perSecond: 1_000, burst: 100 }),
    requests: 20_000,
    delayMs: [1, 4],
    leastUsed: 0.8,
    mostRefused: 0.01,
  },
  {
    quota: '300 a minute in windows',
    service: () => fixedWindow({ limit: 300, windowMs: 60_000 }),
    requests: 1_500,
    leastUsed: 0.8,
    mostRefused: 0.04,
  },
  {
    quota: '40 a second in windows',
    service: () => fixedWindow({ limit: 40, windowMs: 1_000, begunMs: 300 }),
    requests: 2_200,
    leastUsed: 0.75,
    mostRefused: 0.02,
  },
  {
    quota: '40 a second, timers late',
    service: fortyPerSecond,
    requests: 2_200,
    lateMs: 60,
    leastUsed: 0.94,
    mostRefused: 0.01,
  },
  {
    quota: '40 a second, told nothing, 4 readers',
    service: fortyPerSecond,
    requests: 2_200,
    readers: 4,
    told: notAtAll,
    leastUsed: 0.95,
    mostRefused: 0.01,
  },
  {
    quota: '40 a second that another client halves now and then',
    service: fortyPerSecond,
    requests: 2_500,
    otherPerSecond: (now) => (Math.floor(now / 30_000) % 2) * 20,
    leastUsed: 0.8,
    mostRefused: 0.02,
  },
  {
    quota: '40 a second, remaining said',
    service: fortyPerSecond,
    requests: 2_200,
    says: 'remaining',
    leastUsed: 0.95,
    mostRefused: 0.005,
  },
  {
    quota: '300 a second, burst 20, remaining said',
    service: () => tokenBucket({ perSecond: 300, burst: 20 }),
    requests: 6_000,
    says: 'remaining',
    leastUsed: 0.9,
    mostRefused: 0.005,
  },
  {
    quota: '300 a minute in windows, reset said',
    service: () => fixedWindow({ limit: 300, windowMs: 60_000 }),
    requests: 1_500,
    says: 'reset',
    leastUsed: 0.8,
    mostRefused: 0.005,
  },
]

test.for(LAWS)(
  'keeps to a quota of $quota and wastes little',
  async ({ service, leastUsed, mostRefused, ...crowd }) => {
    for (const seed of SEEDS.slice(0, 2)) {
      const report = await runCrowd({ ...crowd, service: service(), seed })
      expect(report.used).toBeGreaterThan(leastUsed)
      expect(report.refusedShare).toBeLessThan(mostRefused)
      expect(early(report)).toBe(0)
    }
  },
)

test('finds out within a minute that a service counts in windows of a second', async () => {
  const used: number[] = []
  for (const seed of SEEDS) {
    const service = fixedWindow({ limit: 40, windowMs: 1_000, begunMs: seed * 40 })
    used.push((await runCrowd({ service, requests: 2_200, seed })).used)
  }
  expect(used.reduce((sum, share) => sum + share) / used.length).toBeGreaterThan(0.85)
})

test('waits a minute when told to, everybody', async () => {
  const told = () => 60_000
  const report = await runCrowd({ service: fortyPerSecond(), requests: 1_000, told })
  expect(report.throttled).toBeLessThan(20)
  expect(early(report)).toBe(0)
})

test('lets 32 readers loose within ten round trips where there is no quota', async () => {
  const { left, seconds } = await runCrowd({ service: noQuota, requests: 2_400, delayMs: [100, 100] })
  expect(left.filter((at) => at > 899 && at < 999)).toHaveLength(32)
  // 75 rounds of 100 ms are the least that 2,400 requests take.
  expect(seconds).toBeLessThan(8.2)
})

test('forgets soon that a service without a quota refused one request', async () => {
  let asked = 0
  const service: QuotaService = {
    ...noQuota,
    ask: (now) => ({ ...noQuota.ask(now), granted: ++asked !== 3 }),
  }
  const { seconds } = await runCrowd({ service, requests: 2_400, delayMs: [100, 100] })
  expect(seconds).toBeLessThan(15)
})

test('slows an unlimited loopback service by a few milliseconds', async () => {
  const report = await runCrowd({ service: noQuota, requests: 10_000, delayMs: [1, 1] })
  expect(report.seconds).toBeLessThan(0.35)
})

test.for([1, 5, 20, 60, 200])('has few requests refused where a burst of %i ends', async (burst) => {
  const service = tokenBucket({ perSecond: 1, burst })
  const { throttled } = await runCrowd({ service, requests: burst + 1, delayMs: [100, 100] })
  expect(throttled).toBeGreaterThan(0)
  expect(throttled).toBeLessThanOrEqual(Math.max(16, 0.6 * burst))
})
