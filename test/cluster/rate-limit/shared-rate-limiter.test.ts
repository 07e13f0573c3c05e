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

describe('a gate of a quota that processes share', () => {
  const slot = (sequence: number, delayMs = 0): ReservedPermit => ({ sequence, delayMs, window: 0, at: 0 })

  function bookOf(slots: ReservedPermit[], pausedMs = 0) {
    const holds: unknown[] = []
    const quota: SharedQuota = {
      reserve: async (most) => ({ permits: slots.splice(0, most), nextRequestMs: 10, pausedMs }),
      pause: async (told) => {
        holds.push(told)
      },
    }
    return { quota, holds }
  }

  test('lets requests out in the order in which they came', async () => {
    const { quota } = bookOf([slot(1), slot(2), slot(3)])
    const rateLimiter = createSharedRateLimiter(quota)
    const order: number[] = []
    const { signal } = new AbortController()
    await Promise.all([1, 2, 3].map((nth) => rateLimiter.acquire(signal).then(() => order.push(nth))))
    expect(order).toEqual([1, 2, 3])
  })

  test('tells the book by which slot a refused request had left', async () => {
    const { quota, holds } = bookOf([slot(7)])
    const pass = await createSharedRateLimiter(quota).acquire(new AbortController().signal)
    pass({ kind: 'throttled', retryAfterMs: 2_000 })
    expect(holds).toEqual([{ permit: slot(7), waitMs: 2_000 }])
  })

  test('says nothing to the book of requests that were granted', async () => {
    const { quota, holds } = bookOf([slot(1)])
    const pass = await createSharedRateLimiter(quota).acquire(new AbortController().signal)
    pass(granted)
    expect(holds).toEqual([])
  })

  test('gives up who is aborted, and leaves the slot to others', async () => {
    const { quota } = bookOf([slot(1)])
    const rateLimiter = createSharedRateLimiter(quota)
    const stop = new AbortController()
    const first = rateLimiter.acquire(stop.signal)
    const second = rateLimiter.acquire(new AbortController().signal)
    stop.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    expect(await second).toBeTypeOf('function')
  })

  test('asks again where the book cannot be reached', async () => {
    let tries = 0
    const quota: SharedQuota = {
      reserve: async () => {
        tries += 1
        if (tries < 3) throw new Error('away')
        return { permits: [slot(1)], nextRequestMs: 1, pausedMs: 0 }
      },
      pause: async () => {},
    }
    expect(await createSharedRateLimiter(quota).acquire(new AbortController().signal)).toBeTypeOf('function')
    expect(tries).toBe(3)
  })
})

test('the name of a quota differs by service and key, and holds neither', () => {
  const name = quotaKey({ baseUrl: 'https://a.example', apiKey: 'secret-key' })
  expect(name).not.toMatch(/secret|example/)
  expect(name).toBe(quotaKey({ baseUrl: 'https://a.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaKey({ baseUrl: 'https://b.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaKey({ baseUrl: 'https://a.example', apiKey: 'other' }))
})

describe.skipIf(noRedis)('the book of a quota on Redis', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(async () => {
    await server.stop()
  })
  const quotaOf = (name: string) => sharedQuotaOn(server.book(name))

  test('gives each slot to one process only', async () => {
    const [one, other] = [quotaOf('both'), quotaOf('both')]
    const taken = await Promise.all([one, other, one, other].map((quota) => quota.reserve(5)))
    const numbers = taken
      .flatMap(({ permits }) => permits.map(({ sequence }) => sequence))
      .sort((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    expect(taken.flatMap(({ permits }) => permits).every(({ delayMs }) => delayMs <= 100)).toBe(true)
  })

  test('holds every process back for as long as the service asked one', async () => {
    const [one, other] = [quotaOf('held'), quotaOf('held')]
    const { permits } = await one.reserve(1)
    await one.pause({ permit: permits[0], waitMs: 60_000 })
    const { permits: none, pausedMs } = await other.reserve(5)
    expect(none).toEqual([])
    expect(pausedMs).toBeGreaterThan(50_000)
  })

  test('learns a rate from a refusal and keeps it for all', async () => {
    const quota = quotaOf('learnt')
    expect(await readQuotaState(server.book('learnt'))).toEqual({ perSecond: undefined, pausedMs: 0 })
    const { permits } = await quota.reserve(3)
    await quota.pause({ permit: permits.at(-1), waitMs: 0 })
    const after = await quotaOf('learnt').reserve(1)
    expect(after.permits[0]?.window).toBe(1)
    expect((await readQuotaState(server.book('learnt'))).perSecond).toBeGreaterThan(0)
  })

  test('counts the refusals of one herd as one', async () => {
    const quota = quotaOf('herd')
    const { permits } = await quota.reserve(3)
    for (const permit of permits) await quota.pause({ permit, waitMs: 0 })
    const first = (await quota.reserve(1)).permits[0]
    for (const permit of permits) await quota.pause({ permit, waitMs: 0 })
    const again = (await quota.reserve(1)).permits[0] ?? first
    expect([first?.window, again?.window]).toEqual([1, 1])
  })
})
