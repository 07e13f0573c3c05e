import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import {
  createRedisRateLimiter,
  quotaKey,
  readQuotaState,
  type StateStore,
} from '../../../src/cluster/rate-limit/redis-rate-limiter.ts'
import { parseSharedState } from '../../../src/cluster/rate-limit/shared-limiter-state.ts'
import type { Permit, RateLimiter } from '../../../src/http/rate-limit/rate-limiter.ts'
import { simulate } from '../../http/rate-limit/crowd.ts'
import { tokenBucket } from '../../http/rate-limit/quota-service.ts'
import { virtualClock } from '../../http/rate-limit/virtual-clock.ts'
import { memoryStore } from './memory-store.ts'

const GRANTED = { kind: 'granted', remaining: undefined, resetMs: undefined } as const
const neverAborted = new AbortController().signal
setMaxListeners(0, neverAborted)

/** Processes that share a quota, in virtual time. */
function startProcesses(count: number, latencyMs = 1) {
  const clock = virtualClock()
  const { store, counts, lose } = memoryStore(clock, latencyMs)
  const limiters = Array.from({ length: count }, () => createRedisRateLimiter(store, { clock }))
  const sent: { at: number; process: number; permit: Permit }[] = []
  const acquire = (process: number, requests: number) => {
    for (let nth = 0; nth < requests; nth += 1)
      void limiters[process]
        ?.acquire(neverAborted)
        .then((permit) => sent.push({ at: clock.now(), process, permit }))
  }
  return { clock, store, counts, lose, limiters, sent, acquire }
}

test('grants permits in the order of the requests', async () => {
  const { clock, limiters } = startProcesses(1)
  const order: number[] = []
  for (const nth of [1, 2, 3]) void limiters[0]?.acquire(neverAborted).then(() => order.push(nth))
  await clock.runUntil(1_000)
  expect(order).toEqual([1, 2, 3])
})

test('lets all processes together ramp up like one: the initial rate rises', async () => {
  const { clock, sent, acquire } = startProcesses(4)
  for (const process of [0, 1, 2, 3]) acquire(process, 400)
  await clock.runUntil(2_000)
  const sentBefore = (ms: number) => sent.filter(({ at }) => at < ms).length
  expect(sentBefore(200)).toBeGreaterThanOrEqual(4)
  expect(sentBefore(200)).toBeLessThan(9)
  expect(sentBefore(1_000)).toBeGreaterThan(80)
  expect(sentBefore(1_000)).toBeLessThan(130)
  expect(sentBefore(2_000)).toBeGreaterThan(800)
})

test('pauses all processes as soon as one is throttled', async () => {
  const { clock, limiters, sent, acquire } = startProcesses(2)
  acquire(0, 1)
  await clock.runUntil(50)
  acquire(1, 1)
  await clock.runUntil(100)
  sent[0]?.permit({ kind: 'throttled', retryAfterMs: 7_000 })
  expect(limiters[0]?.pausedForMs()).toBe(7_000)
  await clock.runUntil(110)
  acquire(1, 3)
  await clock.runUntil(7_099)
  expect(sent).toHaveLength(2)
  expect(limiters[1]?.pausedForMs()).toBeGreaterThan(0)
  await clock.runUntil(30_000)
  expect(sent.length).toBeGreaterThan(2)
})

test('sends one by one after a pause, at a rate that all processes share', async () => {
  const { clock, sent, acquire } = startProcesses(4)
  acquire(0, 6)
  await clock.runUntil(300)
  const [last, ...granted] = sent.splice(0).reverse()
  for (const { permit } of granted) permit(GRANTED)
  last?.permit({ kind: 'throttled', retryAfterMs: 2_000 })
  for (const process of [0, 1, 2, 3]) acquire(process, 8)
  await clock.runUntil(3_300)
  expect(sent.length).toBeGreaterThan(4)
  expect(sent.length).toBeLessThan(32)
  // Exchanges that were under way when the 429 arrived may still have issued permits.
  expect(sent.filter(({ at }) => at > 310 && at < 2_300)).toEqual([])
})

test('rejects an aborted waiter and leaves the permit to others', async () => {
  const { clock, limiters } = startProcesses(1)
  const stop = new AbortController()
  const first = limiters[0]?.acquire(stop.signal)
  const second = limiters[0]?.acquire(neverAborted)
  stop.abort(new Error('stopped'))
  await expect(first).rejects.toThrow('stopped')
  await clock.runUntil(1_000)
  expect(await second).toBeTypeOf('function')
})

test('ignores a delay of more than a day', async () => {
  const { clock, limiters, sent, acquire } = startProcesses(1)
  acquire(0, 1)
  await clock.runUntil(100)
  sent[0]?.permit({ kind: 'throttled', retryAfterMs: 86_400_001 })
  acquire(0, 1)
  await clock.runUntil(1_000)
  expect(limiters[0]?.pausedForMs()).toBe(0)
  expect(sent).toHaveLength(2)
})

test('retries if the shared state cannot be reached', async () => {
  const clock = virtualClock()
  const { store } = memoryStore(clock)
  let tries = 0
  const failing = {
    ...store,
    read: () => {
      tries += 1
      return tries < 3 ? Promise.reject(new Error('away')) : store.read()
    },
  }
  const permit = createRedisRateLimiter(failing, { clock }).acquire(neverAborted)
  await clock.runUntil(2_000)
  expect(await permit).toBeTypeOf('function')
  expect(tries).toBe(3)
})

test('continues after the state was lost', async () => {
  const { clock, store, sent, acquire } = startProcesses(2)
  acquire(0, 4)
  await clock.runUntil(100)
  const lost = store.read().then(({ revision }) => store.replace(revision, 'lost'))
  await clock.runUntil(200)
  expect(await lost).toBe(true)
  for (const { permit } of sent.splice(0)) permit(GRANTED)
  acquire(1, 4)
  await clock.runUntil(1_000)
  expect(sent).toHaveLength(4)
})

test('a pause survives the loss of the state', async () => {
  const { clock, lose, limiters, sent, acquire } = startProcesses(3)
  acquire(0, 1)
  await clock.runUntil(100)
  sent.splice(0)[0]?.permit({ kind: 'throttled', retryAfterMs: 60_000 })
  acquire(1, 1)
  await clock.runUntil(1_000)
  lose()
  await clock.runUntil(5_000)
  acquire(2, 1)
  await clock.runUntil(60_000)
  expect(sent).toEqual([])
  expect(limiters[2]?.pausedForMs()).toBeGreaterThan(0)
  await clock.runUntil(62_000)
  expect(sent).toHaveLength(2)
})

test('processes whose clocks differ pause until the same time', async () => {
  const clock = virtualClock()
  const { store } = memoryStore(clock, 1)
  const [ahead, behind] = [86_400_000, -5_000].map((offset) =>
    createRedisRateLimiter(store, { clock: { ...clock, now: () => clock.now() + offset } }),
  )
  const sentAt: number[] = []
  void ahead?.acquire(neverAborted).then((permit) => permit({ kind: 'throttled', retryAfterMs: 10_000 }))
  await clock.runUntil(100)
  for (const limiter of [ahead, behind])
    void limiter?.acquire(neverAborted).then((permit) => {
      sentAt.push(clock.now())
      permit(GRANTED)
    })
  await clock.runUntil(9_900)
  expect(sentAt).toEqual([])
  await clock.runUntil(12_000)
  expect(sentAt).toHaveLength(2)
})

test('32 processes that share a quota each get their part, with few conflicts and no lost outcome', {
  tags: ['long'],
}, async () => {
  const clock = virtualClock()
  const { store, counts } = memoryStore(clock, 4)
  const sent = Array.from({ length: 32 }, () => 0)
  let longestWaitMs = 0
  const reader = async (process: number, limiter: RateLimiter) => {
    while (clock.now() < 10_000) {
      const from = clock.now()
      const permit = await limiter.acquire(neverAborted)
      longestWaitMs = Math.max(longestWaitMs, clock.now() - from)
      sent[process] = (sent[process] ?? 0) + 1
      await new Promise<void>((resolve) => clock.setTimer(60 + 60 * clock.random(), resolve))
      permit(GRANTED)
    }
  }
  for (const process of sent.keys()) {
    const limiter = createRedisRateLimiter(store, { clock, knownPerMs: 0.1 })
    for (let nth = 0; nth < 2; nth += 1) void reader(process, limiter)
  }
  await clock.runUntil(20_000)
  const total = sent.reduce((sum, count) => sum + count, 0)
  expect(total).toBeGreaterThan(950)
  expect(Math.min(...sent)).toBeGreaterThan(total / 32 / 2)
  expect(longestWaitMs).toBeLessThan(5_000)
  expect(counts.conflicts).toBeLessThan(2 * counts.stored)
  const state = store.read()
  await clock.runUntil(20_010)
  const { json, now } = await state
  expect(parseSharedState(json, now).limiter).toMatchObject({
    sent: total,
    grantedSinceReset: total,
    inFlight: 0,
  })
})

test('gives up after twelve conflicts, and reports the outcome half a second later', async () => {
  const { clock, store, counts } = startProcesses(0)
  let lost = 30
  let attempts = 0
  const contended: StateStore = {
    ...store,
    replace: async (revision, json) => {
      attempts += 1
      lost -= 1
      return lost < 0 && store.replace(revision, json)
    },
  }
  const waiting = createRedisRateLimiter(contended, { clock }).acquire(neverAborted)
  await clock.runUntil(500)
  expect(attempts).toBe(12)
  await clock.runUntil(5_000)
  const permit = await waiting
  lost = 14
  permit({ kind: 'throttled', retryAfterMs: 60_000 })
  await clock.runUntil(10_000)
  const state = readQuotaState(store)
  await clock.runUntil(10_010)
  expect((await state).pausedMs).toBeGreaterThan(50_000)
  expect(counts.stored).toBe(2)
})

test('reports outcomes with the next request if the shared state could not be reached', async () => {
  const { clock, store } = startProcesses(0)
  let isAway = false
  const failing: StateStore = {
    ...store,
    read: () => (isAway ? Promise.reject(new Error('away')) : store.read()),
  }
  const limiter = createRedisRateLimiter(failing, { clock })
  const permit = limiter.acquire(neverAborted)
  await clock.runUntil(100)
  isAway = true
  ;(await permit)({ kind: 'throttled', retryAfterMs: 60_000 })
  await clock.runUntil(5_000)
  isAway = false
  void limiter.acquire(neverAborted)
  const state = clock.runUntil(6_000).then(() => readQuotaState(store))
  await clock.runUntil(7_000)
  expect((await state).pausedMs).toBeGreaterThan(50_000)
})

test('the key of a quota depends on service and API key and contains neither', () => {
  const name = quotaKey({ baseUrl: 'https://a.example', apiKey: 'secret-key' })
  expect(name).not.toMatch(/secret|example/)
  expect(name).toBe(quotaKey({ baseUrl: 'https://a.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaKey({ baseUrl: 'https://b.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaKey({ baseUrl: 'https://a.example', apiKey: 'other' }))
})

test('four processes need few exchanges per request', async () => {
  for (const [perSecond, seconds] of [
    [50, 20],
    [400, 5],
  ] as const) {
    let counts = { reads: 0, stored: 0, conflicts: 0 }
    const { granted, throttled } = await simulate({
      service: tokenBucket({ perSecond, burst: 5 }),
      requests: seconds * perSecond,
      readers: 64,
      createLimiters: (clock) => {
        const memory = memoryStore(clock, 1)
        counts = memory.counts
        return Array.from({ length: 4 }, () => createRedisRateLimiter(memory.store, { clock }))
      },
    })
    expect((counts.stored + counts.conflicts) / (granted + throttled)).toBeLessThan(1.5)
  }
})
