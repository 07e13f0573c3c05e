import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  burstProfile,
  burstUsed,
  countGrants,
  countSent,
  countThrottled,
  countUnused,
  estimateRate,
  newSampleWindow,
  refillRate,
  type SampleWindow,
} from '../../../src/http/rate-limit/estimate-rate.ts'
import {
  newRemainingQuota,
  quotaAvailableAt,
  updateRemaining,
} from '../../../src/http/rate-limit/limiter-state.ts'

type Sending = { count: number; perMs: number; since?: number; idleMs?: number }

/** A sample window in which `count` evenly spaced requests are granted and the next one is throttled. */
function windowOf({ count, perMs, since = 0, idleMs }: Sending): SampleWindow {
  const window = newSampleWindow({ firstSequence: 1, since, idleMs })
  for (let nth = 0; nth <= count; nth += 1) countSent(window, since + nth / perMs)
  countThrottled(window, { sequence: count + 1, at: since + count / perMs })
  return window
}

const profileOf = (sending: Sending) => burstProfile(windowOf(sending))

const evidence = { peakPerMs: 0.06, pausedMs: 1_000, roundTripMs: 100, burstTolerance: 0.5 }

test('takes the geometric mean of lower and upper bound as the first rate', () => {
  const window = windowOf({ count: 36, perMs: 0.1 })
  const { perMs } = estimateRate({ window, previous: [], ...evidence, peakPerMs: undefined })
  expect(perMs).toBeCloseTo(Math.sqrt((36 / 1_360) * (36 / 360)))
})

test('treats a window as at least one round trip long', () => {
  const window = windowOf({ count: 1, perMs: 10 })
  const { perMs } = estimateRate({ window, previous: [], ...evidence, peakPerMs: undefined })
  expect(perMs).toBeLessThanOrEqual(1 / 100)
})

test('finds the rate at which two windows used the same burst', () => {
  // Burst capacity 20, refill 40/s: 36 grants in 0.4 s and, after a pause that refills it, 60 in 1 s.
  const previous = [profileOf({ count: 36, perMs: 0.09 })]
  const window = windowOf({ count: 60, perMs: 0.06, since: 1_400, idleMs: 1_000 })
  const { perMs, minPerMs } = estimateRate({ window, previous, ...evidence })
  expect(perMs).toBeGreaterThan(0.039)
  expect(perMs).toBeLessThan(0.041)
  expect(perMs).toBeGreaterThan(minPerMs)
})

test('finds the refill rate of a short pause if the bucket did not overflow', () => {
  const previous = [profileOf({ count: 36, perMs: 0.09 })]
  const window = windowOf({ count: 12, perMs: 0.06, since: 500, idleMs: 100 })
  const { perMs } = estimateRate({ window, previous, ...evidence, pausedMs: 5_000 })
  expect(perMs).toBeCloseTo(12 / 300)
})

test('assumes no larger burst than any earlier window used', () => {
  const small = profileOf({ count: 45, perMs: 0.045 })
  const window = windowOf({ count: 80, perMs: 0.05, since: 3_000, idleMs: 1_000 })
  const alone = estimateRate({ window, previous: [profileOf({ count: 36, perMs: 0.09 })], ...evidence })
  const both = estimateRate({ window, previous: [profileOf({ count: 36, perMs: 0.09 }), small], ...evidence })
  expect(both.perMs).toBeGreaterThan(alone.perMs * 1.05)
})

test('never exceeds the rate that was throttled', () => {
  const previous = [profileOf({ count: 1, perMs: 10 })]
  const window = windowOf({ count: 60, perMs: 0.06, since: 1_400, idleMs: 1_000 })
  expect(estimateRate({ window, previous, ...evidence }).perMs).toBeLessThan(0.06 * 1.01)
})

test('counts neither throttled requests nor those sent after the last throttled one', () => {
  const window = windowOf({ count: 10, perMs: 0.1 })
  countSent(window, 110)
  countSent(window, 120)
  expect(countGrants(window)).toBe(10)
  expect(burstUsed(burstProfile(window), 0)).toBe(10)
})

test('takes 95 % of the measured refill rate as the first rate', () => {
  const window = windowOf({ count: 36, perMs: 0.1 })
  const first = { window, previous: [], ...evidence, peakPerMs: undefined }
  expect(estimateRate({ ...first, refillPerMs: 0.2 }).perMs).toBeCloseTo(0.19)
  expect(estimateRate({ ...first, refillPerMs: 0.001 }).perMs).toBeCloseTo(36 / 1_360)
})

test('measures the refill rate from the grants after the first 429', () => {
  // Every second request is granted once the burst is used up.
  const window = windowOf({ count: 20, perMs: 0.1 })
  expect(refillRate(window)).toBeUndefined()
  for (let nth = 1; nth <= 10; nth += 1) {
    countSent(window, 200 + 10 * nth)
    if (nth % 2 === 0) countThrottled(window, { sequence: 21 + nth, at: 200 + 10 * nth })
  }
  expect(refillRate(window)).toBe(0.05)
  countSent(window, 310)
  countUnused(window, { sequence: 32, at: 310 })
  expect(refillRate(window)).toBe(0.05)
  // Permits between others may be unused, too: the requests after them still count.
  countSent(window, 320)
  expect(refillRate(window)).toBe(6 / 120)
})

test('measures no refill rate from fewer than six requests, or at one time', () => {
  const few = windowOf({ count: 20, perMs: 0.1 })
  for (const at of [210, 220, 230, 240]) countSent(few, at)
  expect(refillRate(few)).toBeUndefined()
  const simultaneous = windowOf({ count: 20, perMs: 0.1 })
  for (let nth = 0; nth < 9; nth += 1) countSent(simultaneous, 200)
  expect(refillRate(simultaneous)).toBeUndefined()
})

test('retains in a profile what determines the burst, at any rate', () => {
  const intervals = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 1_500 })
  fc.assert(
    fc.property(intervals, fc.double({ min: 0, max: 2, noNaN: true }), (passed, perMs) => {
      const window = newSampleWindow({ firstSequence: 1, since: 0, idleMs: undefined })
      let now = 0
      for (const ms of passed) {
        now += ms
        countSent(window, now)
      }
      const throttled = Math.ceil(passed.length / 2)
      const at = window.sentAt[Math.floor((throttled - 1) / window.stride)] ?? 0
      countThrottled(window, { sequence: throttled, at })
      const { sentAt, stride, end } = window
      const grants = countGrants(window)
      const bursts = sentAt.map((at, nth) => (at > end ? 0 : grants - nth * stride - perMs * (end - at)))
      expect(burstUsed(burstProfile(window), perMs)).toBeCloseTo(Math.max(0, ...bursts), 6)
    }),
  )
})

test('a profile of a steady window is small', () => {
  expect(profileOf({ count: 20_000, perMs: 0.05 }).sentAt.length).toBeLessThan(100)
})

test('ignores 429s of other windows', () => {
  const window = windowOf({ count: 10, perMs: 0.1 })
  countThrottled(window, { sequence: 12, at: 500 })
  countThrottled(window, { sequence: 0, at: 500 })
  expect(window).toMatchObject({ throttled: 1, end: 100 })
})

test('bounds the samples of a long window without losing accuracy', () => {
  const window = windowOf({ count: 20_000, perMs: 0.05 })
  expect(window.sentAt.length).toBeLessThan(1_024)
  expect(countGrants(window)).toBe(20_000)
  expect(burstUsed(burstProfile(window), 0.04)).toBeCloseTo(4_000, -2)
})

test('allows the remaining quota and what is replenished meanwhile', () => {
  const quota = newRemainingQuota()
  expect(quotaAvailableAt(quota, 99)).toBe(Number.NEGATIVE_INFINITY)
  updateRemaining(quota, { sequence: 10, at: 0, remaining: 5 })
  expect(quotaAvailableAt(quota, 15)).toBe(Number.NEGATIVE_INFINITY)
  expect(quotaAvailableAt(quota, 16)).toBe(Number.POSITIVE_INFINITY)
  updateRemaining(quota, { sequence: 14, at: 100, remaining: 5 })
  expect(quotaAvailableAt(quota, 20)).toBe(125)
  expect(quotaAvailableAt(quota, 21)).toBe(150)
})

test('ignores reports that a later request has overtaken', () => {
  const quota = newRemainingQuota()
  updateRemaining(quota, { sequence: 10, at: 100, remaining: 5 })
  updateRemaining(quota, { sequence: 9, at: 50, remaining: 30 })
  expect(quotaAvailableAt(quota, 16)).toBe(Number.POSITIVE_INFINITY)
})

test('notices within seconds that the replenishment slows down', () => {
  const quota = newRemainingQuota()
  for (let sequence = 0; sequence < 100; sequence += 1)
    updateRemaining(quota, { sequence, at: sequence * 25, remaining: 5 })
  for (let sequence = 100; sequence < 150; sequence += 1)
    updateRemaining(quota, {
      sequence,
      at: 2_500 + (sequence - 100) * 50,
      remaining: sequence % 2 === 0 ? 5 : 4,
    })
  // 20/s now instead of 40/s.
  expect(quotaAvailableAt(quota, 156) - 4_950).toBeGreaterThan(125)
})

test('does not take a window reset for a replenishment rate', () => {
  const quota = newRemainingQuota()
  updateRemaining(quota, { sequence: 10, at: 0, remaining: 0 })
  updateRemaining(quota, { sequence: 11, at: 100, remaining: 299 })
  expect(quotaAvailableAt(quota, 11 + 299 + 1)).toBeGreaterThanOrEqual(200)
})

test('decays the observed replenishment by a factor of e within a second', () => {
  const quota = newRemainingQuota()
  updateRemaining(quota, { sequence: 0, at: 0, remaining: 0 })
  updateRemaining(quota, { sequence: 100, at: 1_000, remaining: 0 })
  expect(quotaAvailableAt(quota, 101)).toBe(1_010)
  updateRemaining(quota, { sequence: 150, at: 2_000, remaining: 0 })
  const third = Math.exp(-1)
  expect(quotaAvailableAt(quota, 151)).toBeCloseTo(2_000 + (1_000 * third + 1_000) / (100 * third + 50), 6)
})
