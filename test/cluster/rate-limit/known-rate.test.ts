import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import { createRedisRateLimiter, readQuotaState } from '../../../src/cluster/rate-limit/redis-rate-limiter.ts'
import type { Permit } from '../../../src/http/rate-limit/rate-limiter.ts'
import { virtualClock } from '../../http/rate-limit/virtual-clock.ts'
import { memoryStore } from './memory-store.ts'

const GRANTED = { kind: 'granted', remaining: undefined, resetMs: undefined } as const
const THROTTLED = { kind: 'throttled', retryAfterMs: 1_000 } as const
const { signal } = new AbortController()
setMaxListeners(0, signal)

/** Processes that join one shared state in virtual time. Their requests are granted unless a response is set. */
function openState() {
  const clock = virtualClock()
  const memory = memoryStore(clock, 1)
  const sentAt: number[] = []
  const service = { outcome: (): Parameters<Permit>[0] => GRANTED }
  const startProcess = (knownPerMs: number | undefined, readers = 8) => {
    const limiter = createRedisRateLimiter(memory.store, { clock, knownPerMs })
    const reader = async () => {
      for (;;) {
        const permit = await limiter.acquire(signal)
        sentAt.push(clock.now())
        const outcome = service.outcome()
        await new Promise<void>((resolve) => clock.setTimer(100, resolve))
        permit(outcome)
      }
    }
    for (let nth = 0; nth < readers; nth += 1) void reader()
  }
  const sentBetween = (from: number, to: number) => sentAt.filter((at) => at >= from && at < to).length
  const readQuota = async () => {
    const state = readQuotaState(memory.store)
    await clock.runUntil(clock.now() + 10)
    return state
  }
  return { clock, ...memory, service, startProcess, sentBetween, readQuota }
}

test('is used from the first permit on, and shown to monitoring', async () => {
  const { clock, startProcess, sentBetween, readQuota } = openState()
  startProcess(0.02)
  startProcess(0.02)
  await clock.runUntil(5_000)
  expect(sentBetween(0, 5_000)).toBeGreaterThanOrEqual(99)
  expect(sentBetween(0, 5_000)).toBeLessThanOrEqual(104)
  expect((await readQuota()).perSecond).toBeCloseTo(20)
})

test('is lowered by a 429 and never exceeded afterwards', async () => {
  const { clock, service, startProcess, sentBetween } = openState()
  startProcess(0.02)
  startProcess(0.02)
  await clock.runUntil(3_000)
  service.outcome = () => {
    service.outcome = () => GRANTED
    return THROTTLED
  }
  await clock.runUntil(60_000)
  expect(sentBetween(3_500, 4_000)).toBe(0)
  expect(sentBetween(4_500, 10_500)).toBeGreaterThan(6 * 12)
  expect(sentBetween(4_500, 10_500)).toBeLessThan(6 * 20)
  for (let from = 4_500; from < 59_000; from += 500)
    expect(sentBetween(from, from + 1_000)).toBeLessThanOrEqual(22)
})

test('of another tier replaces the one in the stored state, and so does an unknown rate', async () => {
  const { clock, startProcess, sentBetween, readQuota } = openState()
  startProcess(0.02)
  await clock.runUntil(2_000)
  startProcess(0.05)
  await clock.runUntil(6_100)
  expect(sentBetween(2_000, 6_100)).toBeGreaterThanOrEqual(4 * 49)
  expect(sentBetween(2_000, 6_100)).toBeLessThanOrEqual(4 * 52 + 20)
  expect((await readQuota()).perSecond).toBeCloseTo(50)
  startProcess(undefined)
  await clock.runUntil(6_500)
  expect((await readQuota()).perSecond).not.toBeCloseTo(50)
})

test('of another tier does not end a pause', async () => {
  const { clock, service, startProcess, sentBetween } = openState()
  service.outcome = () => ({ kind: 'throttled', retryAfterMs: 30_000 })
  startProcess(0.02)
  await clock.runUntil(1_000)
  service.outcome = () => GRANTED
  startProcess(0.05)
  await clock.runUntil(29_900)
  expect(sentBetween(1_000, 29_900)).toBe(0)
  await clock.runUntil(34_000)
  expect(sentBetween(31_000, 34_000)).toBeGreaterThanOrEqual(3 * 49)
})

test('rises again after windows without a grant', async () => {
  const { clock, service, startProcess, sentBetween } = openState()
  service.outcome = () => THROTTLED
  startProcess(0.02)
  startProcess(0.02)
  await clock.runUntil(16_000)
  service.outcome = () => GRANTED
  await clock.runUntil(180_000)
  expect(sentBetween(0, 16_000)).toBeLessThan(40)
  expect(sentBetween(178_000, 180_000)).toBeGreaterThanOrEqual(39)
})

test('is stated again to a state that was lost', async () => {
  const { clock, lose, startProcess, sentBetween } = openState()
  startProcess(0.02)
  await clock.runUntil(1_000)
  lose()
  await clock.runUntil(6_000)
  expect(sentBetween(1_000, 6_000)).toBeGreaterThanOrEqual(98)
  expect(sentBetween(1_000, 6_000)).toBeLessThanOrEqual(112)
})
