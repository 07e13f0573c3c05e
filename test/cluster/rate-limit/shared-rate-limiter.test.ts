import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SharedQuota, Slot } from '../../../src/cluster/rate-limit/shared-quota.ts'
import { bookedQuota, quotaName, readQuota } from '../../../src/cluster/rate-limit/shared-rate-limit-state.ts'
import { createSharedGate } from '../../../src/cluster/rate-limit/shared-rate-limiter.ts'
import { noRedis, startTestServer, type TestServer } from '../../helpers/shared-servers.ts'

const granted = { kind: 'granted', remaining: undefined, resetMs: undefined } as const

describe('a gate of a quota that processes share', () => {
  const slot = (nth: number, delayMs = 0): Slot => ({ nth, delayMs, stretch: 0, at: 0 })

  function bookOf(slots: Slot[], pausedMs = 0) {
    const holds: unknown[] = []
    const quota: SharedQuota = {
      take: async (most) => ({ slots: slots.splice(0, most), againMs: 10, pausedMs }),
      hold: async (told) => {
        holds.push(told)
      },
    }
    return { quota, holds }
  }

  test('lets requests out in the order in which they came', async () => {
    const { quota } = bookOf([slot(1), slot(2), slot(3)])
    const gate = createSharedGate(quota)
    const order: number[] = []
    const { signal } = new AbortController()
    await Promise.all([1, 2, 3].map((nth) => gate.take(signal).then(() => order.push(nth))))
    expect(order).toEqual([1, 2, 3])
  })

  test('tells the book by which slot a refused request had left', async () => {
    const { quota, holds } = bookOf([slot(7)])
    const pass = await createSharedGate(quota).take(new AbortController().signal)
    pass({ kind: 'refused', retryAfterMs: 2_000 })
    expect(holds).toEqual([{ slot: slot(7), waitMs: 2_000 }])
  })

  test('says nothing to the book of requests that were granted', async () => {
    const { quota, holds } = bookOf([slot(1)])
    const pass = await createSharedGate(quota).take(new AbortController().signal)
    pass(granted)
    expect(holds).toEqual([])
  })

  test('gives up who is aborted, and leaves the slot to others', async () => {
    const { quota } = bookOf([slot(1)])
    const gate = createSharedGate(quota)
    const stop = new AbortController()
    const first = gate.take(stop.signal)
    const second = gate.take(new AbortController().signal)
    stop.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    expect(await second).toBeTypeOf('function')
  })

  test('asks again where the book cannot be reached', async () => {
    let tries = 0
    const quota: SharedQuota = {
      take: async () => {
        tries += 1
        if (tries < 3) throw new Error('away')
        return { slots: [slot(1)], againMs: 1, pausedMs: 0 }
      },
      hold: async () => {},
    }
    expect(await createSharedGate(quota).take(new AbortController().signal)).toBeTypeOf('function')
    expect(tries).toBe(3)
  })
})

test('the name of a quota differs by service and key, and holds neither', () => {
  const name = quotaName({ baseUrl: 'https://a.example', apiKey: 'secret-key' })
  expect(name).not.toMatch(/secret|example/)
  expect(name).toBe(quotaName({ baseUrl: 'https://a.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaName({ baseUrl: 'https://b.example', apiKey: 'secret-key' }))
  expect(name).not.toBe(quotaName({ baseUrl: 'https://a.example', apiKey: 'other' }))
})

describe.skipIf(noRedis)('the book of a quota on Redis', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(async () => {
    await server.stop()
  })
  const quotaOf = (name: string) => bookedQuota(server.book(name))

  test('gives each slot to one process only', async () => {
    const [one, other] = [quotaOf('both'), quotaOf('both')]
    const taken = await Promise.all([one, other, one, other].map((quota) => quota.take(5)))
    const numbers = taken.flatMap(({ slots }) => slots.map(({ nth }) => nth)).sort((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    expect(taken.flatMap(({ slots }) => slots).every(({ delayMs }) => delayMs <= 100)).toBe(true)
  })

  test('holds every process back for as long as the service asked one', async () => {
    const [one, other] = [quotaOf('held'), quotaOf('held')]
    const { slots } = await one.take(1)
    await one.hold({ slot: slots[0], waitMs: 60_000 })
    const { slots: none, pausedMs } = await other.take(5)
    expect(none).toEqual([])
    expect(pausedMs).toBeGreaterThan(50_000)
  })

  test('learns a rate from a refusal and keeps it for all', async () => {
    const quota = quotaOf('learnt')
    expect(await readQuota(server.book('learnt'))).toEqual({ perSecond: undefined, pausedMs: 0 })
    const { slots } = await quota.take(3)
    await quota.hold({ slot: slots.at(-1), waitMs: 0 })
    const after = await quotaOf('learnt').take(1)
    expect(after.slots[0]?.stretch).toBe(1)
    expect((await readQuota(server.book('learnt'))).perSecond).toBeGreaterThan(0)
  })

  test('counts the refusals of one herd as one', async () => {
    const quota = quotaOf('herd')
    const { slots } = await quota.take(3)
    for (const slot of slots) await quota.hold({ slot, waitMs: 0 })
    const first = (await quota.take(1)).slots[0]
    for (const slot of slots) await quota.hold({ slot, waitMs: 0 })
    const again = (await quota.take(1)).slots[0] ?? first
    expect([first?.stretch, again?.stretch]).toEqual([1, 1])
  })
})
