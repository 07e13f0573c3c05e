import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReservedPermit, SharedQuota } from '../../../src/cluster/rate-limit/shared-quota.ts'
import {
  quotaKey,
  readQuotaState,
  sharedQuotaOn,
} from '../../../src/cluster/rate-limit/shared-rate-limit-state.ts'
import { createSharedRateLimiter } from '../../../src/cluster/rate-limit/shared-rate-limiter.ts'
import { noRedis, startTestServer, type TestServer } from '../../helpers/shared-servers.ts'

const granted = { kind: 'granted', remaining: undefined, resetMs: undefined } as const

describe('the shared rate limiter', () => {
  const permitOf = (sequence: number, delayMs = 0): ReservedPermit => ({
    sequence,
    delayMs,
    window: 0,
    at: 0,
  })

  function fakeQuota(permits: ReservedPermit[], pausedMs = 0) {
    const throttles: unknown[] = []
    const quota: SharedQuota = {
      reserve: async (most) => ({ permits: permits.splice(0, most), nextRequestMs: 10, pausedMs }),
      pause: async (throttle) => {
        throttles.push(throttle)
      },
    }
    return { quota, throttles }
  }

  test('grants permits in the order of the requests', async () => {
    const { quota } = fakeQuota([permitOf(1), permitOf(2), permitOf(3)])
    const rateLimiter = createSharedRateLimiter(quota)
    const order: number[] = []
    const { signal } = new AbortController()
    await Promise.all([1, 2, 3].map((nth) => rateLimiter.acquire(signal).then(() => order.push(nth))))
    expect(order).toEqual([1, 2, 3])
  })

  test('reports the permit of a throttled request', async () => {
    const { quota, throttles } = fakeQuota([permitOf(7)])
    const permit = await createSharedRateLimiter(quota).acquire(new AbortController().signal)
    permit({ kind: 'throttled', retryAfterMs: 2_000 })
    expect(throttles).toEqual([{ permit: permitOf(7), waitMs: 2_000 }])
  })

  test('reports nothing about granted requests', async () => {
    const { quota, throttles } = fakeQuota([permitOf(1)])
    const permit = await createSharedRateLimiter(quota).acquire(new AbortController().signal)
    permit(granted)
    expect(throttles).toEqual([])
  })

  test('rejects an aborted waiter and leaves the permit to others', async () => {
    const { quota } = fakeQuota([permitOf(1)])
    const rateLimiter = createSharedRateLimiter(quota)
    const stop = new AbortController()
    const first = rateLimiter.acquire(stop.signal)
    const second = rateLimiter.acquire(new AbortController().signal)
    stop.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    expect(await second).toBeTypeOf('function')
  })

  test('retries if the shared state cannot be reached', async () => {
    let tries = 0
    const quota: SharedQuota = {
      reserve: async () => {
        tries += 1
        if (tries < 3) throw new Error('away')
        return { permits: [permitOf(1)], nextRequestMs: 1, pausedMs: 0 }
      },
      pause: async () => {},
    }
    expect(await createSharedRateLimiter(quota).acquire(new AbortController().signal)).toBeTypeOf('function')
    expect(tries).toBe(3)
  })
})

test('the key of a quota depends on service and API key and contains neither', () => {
  const name = quotaKey({ baseUrl: 'https://a.example', apiKey: 'secret-key' })
  expect(name).not.toMatch(/secret|example/)
  expect(name).toBe(quotaKey({ baseUrl: 'https://a.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaKey({ baseUrl: 'https://b.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaKey({ baseUrl: 'https://a.example', apiKey: 'other' }))
})

describe.skipIf(noRedis)('the shared rate-limit state in Redis', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(async () => {
    await server.stop()
  })
  const quotaOf = (name: string) => sharedQuotaOn(server.book(name))

  test('issues each permit to one process only', async () => {
    const [one, other] = [quotaOf('both'), quotaOf('both')]
    const taken = await Promise.all([one, other, one, other].map((quota) => quota.reserve(5)))
    const numbers = taken
      .flatMap(({ permits }) => permits.map(({ sequence }) => sequence))
      .sort((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    expect(taken.flatMap(({ permits }) => permits).every(({ delayMs }) => delayMs <= 100)).toBe(true)
  })

  test('pauses all processes when one is asked to wait', async () => {
    const [one, other] = [quotaOf('held'), quotaOf('held')]
    const { permits } = await one.reserve(1)
    await one.pause({ permit: permits[0], waitMs: 60_000 })
    const { permits: none, pausedMs } = await other.reserve(5)
    expect(none).toEqual([])
    expect(pausedMs).toBeGreaterThan(50_000)
  })

  test('learns a rate from a 429 and shares it', async () => {
    const quota = quotaOf('learnt')
    expect(await readQuotaState(server.book('learnt'))).toEqual({ perSecond: undefined, pausedMs: 0 })
    const { permits } = await quota.reserve(3)
    await quota.pause({ permit: permits.at(-1), waitMs: 0 })
    const after = await quotaOf('learnt').reserve(1)
    expect(after.permits[0]?.window).toBe(1)
    expect((await readQuotaState(server.book('learnt'))).perSecond).toBeGreaterThan(0)
  })

  test('counts the 429s of one burst as one', async () => {
    const quota = quotaOf('burst')
    const { permits } = await quota.reserve(3)
    for (const permit of permits) await quota.pause({ permit, waitMs: 0 })
    const first = (await quota.reserve(1)).permits[0]
    for (const permit of permits) await quota.pause({ permit, waitMs: 0 })
    const again = (await quota.reserve(1)).permits[0] ?? first
    expect([first?.window, again?.window]).toEqual([1, 1])
  })
})
