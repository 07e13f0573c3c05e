import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SharedRateLimitState } from '../../../src/cluster/rate-limit/shared-rate-limit-state.ts'
import { noRedis, startTestServer, type TestServer } from '../../helpers/shared-servers.ts'
import { tokenBucket } from '../../http/rate-limit/quota-service.ts'
import { virtualClock } from '../../http/rate-limit/virtual-clock.ts'

type Case = {
  what: string
  perSecond: number
  burst: number
  /** Another client uses this share of the quota between these seconds. */
  other?: { share: number; from: number; to: number }
  /** Grants are counted after this many seconds. */
  from?: number
  /** Minimum share of the quota that is used, and maximum share of the requests that is throttled, in 200 seconds. */
  used: number
  throttled: number
}

const QUOTA = { perSecond: 50, burst: 5 }
const CASES: Case[] = [
  { what: '50/s, burst capacity 5', ...QUOTA, used: 0.97, throttled: 0.002 },
  { what: '100/s, burst capacity 20', perSecond: 100, burst: 20, used: 0.97, throttled: 0.002 },
  { what: '10/s, burst capacity 20', perSecond: 10, burst: 20, used: 0.98, throttled: 0.01 },
  {
    what: 'the rest while another client uses a fifth',
    ...{ ...QUOTA, other: { share: 0.2, from: 0, to: 200 }, used: 0.93, throttled: 0.002 },
  },
  {
    what: 'the share that another client releases',
    ...{ ...QUOTA, other: { share: 0.3, from: 20, to: 80 }, from: 140, used: 0.95, throttled: 0.002 },
  },
]

const SECONDS = 200
const BEGIN = 1_800_000_000_000

describe.skipIf(noRedis)('an unknown quota with the shared rate limiter', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.stop())

  test.for(CASES)('is used: $what', async (one) => {
    let now = BEGIN
    const passTo = (time: number) => {
      now = time
    }
    const { used, throttled } = await use(one, { sharedState: server.book(one.what, () => now), passTo })
    expect(used).toBeGreaterThan(one.used)
    expect(used).toBeLessThan(1.01)
    expect(throttled).toBeLessThan(one.throttled)
  })
})

type Simulation = { sharedState: SharedRateLimitState; passTo(time: number): void }

/** Uses every permit immediately. Responses arrive after 60 to 120 ms; Retry-After is a whole number of seconds. */
async function use({ perSecond, burst, other, from = 0 }: Case, { sharedState, passTo }: Simulation) {
  const { random } = virtualClock()
  const service = tokenBucket({ perSecond, burst })
  let reports: { due: number; report: number[] }[] = []
  let [now, received, throttled, counted, othersNext] = [BEGIN, 0, 0, 0, (other?.from ?? 0) * 1_000]
  const sendOthersUntil = (time: number) => {
    if (other === undefined) return
    for (; othersNext < Math.min(time, other.to * 1_000); othersNext += 1_000 / (perSecond * other.share))
      service.request(othersNext)
  }
  while (now < BEGIN + SECONDS * 1_000) {
    for (const { due, report } of reports.filter((one) => one.due <= now)) {
      passTo(due)
      await sharedState('pause', ...report)
    }
    reports = reports.filter(({ due }) => due > now)
    passTo(now)
    const [, againMs = 0, window = 0, ...slots] = (await sharedState('reserve', 8)).map(Number)
    for (let place = 0; place < slots.length; place += 3) {
      const [nth = 0, at = 0] = slots.slice(place + 1, place + 3)
      sendOthersUntil(at - BEGIN)
      const { granted, waitMs } = service.request(at - BEGIN)
      received += 1
      if (granted && at - BEGIN >= from * 1_000) counted += 1
      if (granted) continue
      throttled += 1
      const report = [window, nth, at, 1_000 * Math.max(1, Math.ceil(waitMs / 1_000))]
      reports.push({ due: at + 60 + 60 * random(), report })
    }
    const nextReport = Math.min(...reports.map(({ due }) => due))
    now = Math.min(now + Math.max(1, againMs) + 2 * random(), Math.max(nextReport, now + 1))
  }
  const isActive = other !== undefined && other.to > from
  const supply = burst + (SECONDS - from) * perSecond * (isActive ? 1 - other.share : 1)
  return { used: counted / supply, throttled: throttled / received }
}
