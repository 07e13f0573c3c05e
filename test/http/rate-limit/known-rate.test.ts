import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { createRateLimiter } from '../../../src/http/rate-limit/rate-limiter.ts'
import { readOutcome } from '../../../src/http/read-outcome.ts'
import { createMeter } from '../../../src/sources/data-api/compute-units.ts'
import { simulate } from './crowd.ts'
import { tokenBucket } from './quota-service.ts'
import { virtualClock } from './virtual-clock.ts'

const never = new AbortController().signal
setMaxListeners(0, never)

const FREE = createMeter({ tier: 'free' })
const LISTING = `/v1/chains/43114/addresses/0x${'0'.repeat(39)}1/transactions`

/** Readers of listings against the embedded service with the quota of the tier free, in virtual time. */
async function readFor(minutes: number, seed: number) {
  const clock = virtualClock({ seed, lateMs: 20 })
  const service = createDataService({ quirks: ['compute-units'], now: clock.now })
  const request = () => service.handle({ method: 'GET', url: LISTING, headers: {} })
  await request()
  const granted = [1]
  let refused = 0
  const rateLimiter = createRateLimiter(clock, FREE.requestsPerMs('listing'))
  const reader = async () => {
    for (;;) {
      const permit = await rateLimiter.acquire(never)
      const minute = Math.floor(clock.now() / 60_000)
      const response = await request()
      await new Promise<void>((resolve) => clock.setTimer(80 + 80 * clock.random(), resolve))
      if (response.status === 429) refused += 1
      else granted[minute] = (granted[minute] ?? 0) + 1
      permit(readOutcome(response))
    }
  }
  for (let nth = 0; nth < 16; nth += 1) void reader()
  await clock.runUntil(minutes * 60_000)
  const answered = granted.slice(0, minutes)
  const total = answered.reduce((sum, count) => sum + count, refused)
  return { used: answered.map((count) => (count * 20) / 8_000), refused: refused / total }
}

test.for([1, 2])('uses 97 % of the tier free from the first minute on, seed %i', async (seed) => {
  const { used, refused } = await readFor(3, seed)
  expect(Math.min(...used)).toBeGreaterThanOrEqual(0.97)
  expect(refused).toBeLessThanOrEqual(0.005)
})

test('a request of five times the cost takes the time of five at a known rate, but not at an unknown one', async () => {
  const sentWithin = async (ms: number, knownPerMs: number | undefined) => {
    const clock = virtualClock({ seed: 1, lateMs: 0 })
    const rateLimiter = createRateLimiter(clock, knownPerMs)
    let sent = 0
    const reader = async () => {
      for (;;) {
        const permit = await rateLimiter.acquire(never, 5)
        sent += 1
        await new Promise<void>((resolve) => clock.setTimer(100, resolve))
        permit({ kind: 'granted', remaining: undefined, resetMs: undefined })
      }
    }
    void reader()
    await clock.runUntil(ms)
    return sent
  }
  expect(await sentWithin(9_990, 0.01)).toBe(20)
  expect(await sentWithin(9_990, undefined)).toBe(100)
})

test('learns a lower rate if another client uses half of the quota', async () => {
  const service = tokenBucket({ perSecond: 40, burst: 40 })
  const report = await simulate({ service, requests: 3_000, knownPerMs: 0.04, otherPerSecond: () => 20 })
  expect(report.used).toBeGreaterThan(0.9)
  expect(report.throttledShare).toBeLessThan(0.05)
})

test('never exceeds the known rate, although the API allows more', async () => {
  const service = tokenBucket({ perSecond: 400, burst: 400 })
  const { sent } = await simulate({ service, requests: 600, knownPerMs: 0.02 })
  const perSecond = sent.length / ((sent.at(-1) ?? 0) / 1_000)
  expect(perSecond).toBeGreaterThan(19)
  expect(perSecond).toBeLessThan(20.2)
})
