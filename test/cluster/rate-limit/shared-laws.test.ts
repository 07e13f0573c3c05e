import { expect } from 'vitest'
import { createRedisRateLimiter } from '../../../src/cluster/rate-limit/redis-rate-limiter.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { inSeconds, omitted, type Report, type Simulation, simulate } from '../../http/rate-limit/crowd.ts'
import { tokenBucket } from '../../http/rate-limit/quota-service.ts'
import type { VirtualClock } from '../../http/rate-limit/virtual-clock.ts'
import { memoryStore } from './memory-store.ts'

type Law = Omit<Simulation, 'service'> & {
  what: string
  perSecond: number
  burst: number
  /** The use is measured from this time on (ms). */
  from?: number
  /** Minimum share of the quota that is used, and maximum share of the requests that is throttled. */
  minUsed: number
  maxThrottled: number
}

const QUOTA = { perSecond: 50, burst: 5 }
/** Each takes 200 seconds of virtual time. */
const LAWS: Law[] = [
  { what: '50/s, burst capacity 5', ...QUOTA, requests: 10_000, minUsed: 0.97, maxThrottled: 0.002 },
  {
    what: '50/s, burst capacity 5, without Retry-After',
    ...QUOTA,
    requests: 10_000,
    retryAfter: omitted,
    minUsed: 0.97,
    maxThrottled: 0.002,
  },
  {
    what: '100/s, burst capacity 20',
    perSecond: 100,
    burst: 20,
    requests: 20_000,
    minUsed: 0.97,
    maxThrottled: 0.002,
  },
  {
    what: '10/s, burst capacity 20',
    perSecond: 10,
    burst: 20,
    requests: 2_000,
    minUsed: 0.98,
    maxThrottled: 0.01,
  },
  {
    what: '50/s of which another client uses a fifth',
    ...QUOTA,
    requests: 8_000,
    otherPerSecond: () => 10,
    minUsed: 0.95,
    maxThrottled: 0.003,
  },
  {
    what: '50/s of which another client releases 30 % after 80 s',
    ...QUOTA,
    requests: 8_800,
    otherPerSecond: (now) => (now >= 20_000 && now < 80_000 ? 15 : 0),
    from: 140_000,
    minUsed: 0.95,
    maxThrottled: 0.004,
  },
]

const PROCESSES = 4

/** The share of the supply from a time on (ms) that was granted. */
function usedSince({ grantedAt, seconds }: Report, from: number, perSecond: number): number {
  return grantedAt.filter((at) => at >= from).length / ((seconds - from / 1_000) * perSecond)
}

testSample(
  1,
  LAWS,
  'four processes use an unknown quota of $what',
  async ({ what: _what, perSecond, burst, from, minUsed, maxThrottled, ...simulation }) => {
    const createLimiters = (clock: VirtualClock) => {
      const { store } = memoryStore(clock, 1)
      return Array.from({ length: PROCESSES }, () => createRedisRateLimiter(store, { clock }))
    }
    const service = tokenBucket({ perSecond, burst })
    const report = await simulate({ retryAfter: inSeconds, ...simulation, service, createLimiters })
    const used = from === undefined ? report.used : usedSince(report, from, perSecond)
    expect(used).toBeGreaterThan(minUsed)
    expect(used).toBeLessThan(1.01)
    expect(report.throttledShare).toBeLessThan(maxThrottled)
  },
)
