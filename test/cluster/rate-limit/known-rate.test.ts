import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readQuotaState } from '../../../src/cluster/rate-limit/shared-rate-limit-state.ts'
import { noRedis, startTestServer, type TestServer } from '../../helpers/shared-servers.ts'

describe.skipIf(noRedis)('a known rate', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.stop())

  /** Takes all permits that are issued from `from` to `to` (ms). */
  async function take(book: ReturnType<typeof openBook>, from: number, to: number) {
    const permits: { window: number; sequence: number; at: number }[] = []
    for (book.time.ms = from; book.time.ms < to; book.time.ms += 10) {
      const [, , window = 0, ...slots] = (await book.state('reserve', 8)).map(Number)
      for (let place = 0; place < slots.length; place += 3)
        permits.push({ window, sequence: slots[place + 1] ?? 0, at: slots[place + 2] ?? 0 })
    }
    return permits
  }

  function openBook(name: string, perMs: number) {
    const time = { ms: 0 }
    return { time, state: server.book(name, () => time.ms, perMs) }
  }

  test('is used from the first permit on, and shown to monitoring', async () => {
    const book = openBook('known', 0.02)
    const permits = await take(book, 1_000_000, 1_005_000)
    expect(permits.length).toBeGreaterThanOrEqual(99)
    expect(permits.length).toBeLessThanOrEqual(104)
    const others = server.book('known', () => book.time.ms)
    expect((await readQuotaState(others)).perSecond).toBeCloseTo(20)
  })

  test('is lowered by a 429 and never exceeded afterwards', async () => {
    const book = openBook('lowered', 0.02)
    const before = await take(book, 1_000_000, 1_003_000)
    const last = before.at(-1) ?? { window: 0, sequence: 0, at: 0 }
    await book.state('pause', last.window, last.sequence, last.at, 1_000)
    const after = await take(book, 1_003_000, 1_010_000)
    expect(after[0]?.at).toBeGreaterThanOrEqual(1_004_000)
    expect(after.length).toBeLessThan(6 * 20)
    expect(after.length).toBeGreaterThan(6 * 12)
  })

  test('of another tier replaces the one in the stored state', async () => {
    await take(openBook('tiers', 0.02), 1_000_000, 1_002_000)
    const faster = await take(openBook('tiers', 0.05), 1_002_000, 1_006_000)
    expect(faster.length).toBeGreaterThanOrEqual(4 * 49)
  })

  test('rises again after windows without a grant', async () => {
    const book = openBook('recovering', 0.02)
    let time = 1_000_000
    for (let window = 0; window < 8; window += 1, time += 2_000) {
      const [permit] = await take(book, time, time + 1_000)
      if (permit !== undefined) await book.state('pause', permit.window, permit.sequence, permit.at, 1_000)
    }
    const first = await take(book, time, time + 2_000)
    await take(book, time + 2_000, time + 60_000)
    const later = await take(book, time + 60_000, time + 62_000)
    expect(first.length).toBeLessThan(30)
    expect(later.length).toBeGreaterThanOrEqual(39)
  })
})
