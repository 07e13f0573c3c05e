import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import { createRedisRateLimiter } from '../../../src/cluster/rate-limit/redis-rate-limiter.ts'
import { quotaKey } from '../../../src/cluster/rate-limit/redis-store.ts'
import type { Permit } from '../../../src/http/rate-limit/rate-limiter.ts'
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
  const { store, counts } = memoryStore(clock, latencyMs)
  const limiters = Array.from({ length: count }, () => createRedisRateLimiter(store, { clock }))
  const sent: { at: number; process: number; permit: Permit }[] = []
  const acquire = (process: number, requests: number) => {
    for (let nth = 0; nth < requests; nth += 1)
      void limiters[process]
        ?.acquire(neverAborted)
        .then((permit) => sent.push({ at: clock.now(), process, permit }))
  }
  return { clock, store, counts, limiters, sent, acquire }
}

test('grants permits in the order of the requests', async () => {
  const { clock, limiters } = startProcesses(1)
  const order: number[] = []
  for (const nth of [1, 2, 3]) void limiters[0]?.acquire(neverAborted).then(() => order.push(nth))
  await clock.runUntil(1_000)
  expect(order).toEqual([1, 2, 3])
})

test('lets all processes together ramp up like one', async () => {
  const { clock, sent, acquire } = startProcesses(4)
  for (const process of [0, 1, 2, 3]) acquire(process, 8)
  await clock.runUntil(5_000)
  expect(sent).toHaveLength(8)
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
  await clock.runUntil(100)
  const [last, ...granted] = sent.splice(0).reverse()
  for (const { permit } of granted) permit(GRANTED)
  last?.permit({ kind: 'throttled', retryAfterMs: 2_000 })
  for (const process of [0, 1, 2, 3]) acquire(process, 8)
  await clock.runUntil(3_500)
  expect(sent.length).toBeGreaterThan(5)
  expect(sent.length).toBeLessThan(32)
  // Exchanges that were under way when the 429 arrived may still have issued permits.
  expect(sent.filter(({ at }) => at > 110 && at < 2_100)).toEqual([])
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

test('the key of a quota depends on service and API key and contains neither', () => {
  const name = quotaKey({ baseUrl: 'https://a.example', apiKey: 'secret-key' })
  expect(name).not.toMatch(/secret|example/)
  expect(name).toBe(quotaKey({ baseUrl: 'https://a.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaKey({ baseUrl: 'https://b.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaKey({ baseUrl: 'https://a.example', apiKey: 'other' }))
})

test('four processes need few exchanges per request', async () => {
  for (const perSecond of [50, 400]) {
    let counts = { reads: 0, stored: 0, conflicts: 0 }
    const { granted, throttled } = await simulate({
      service: tokenBucket({ perSecond, burst: 5 }),
      requests: 20 * perSecond,
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
