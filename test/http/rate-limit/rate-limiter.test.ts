import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import {
  createRateLimiter,
  type Permit,
  type RateLimiter,
} from '../../../src/http/rate-limit/rate-limiter.ts'
import { type VirtualClock, virtualClock } from './virtual-clock.ts'

const GRANTED = { kind: 'granted', remaining: undefined, resetMs: undefined } as const
const throttled = (retryAfterMs?: number) => ({ kind: 'throttled', retryAfterMs }) as const
const neverAborted = new AbortController().signal
setMaxListeners(0, neverAborted)

type Sent = { at: number; permit: Permit }
type Simulation = { clock: VirtualClock; rateLimiter: RateLimiter; sent: Sent[] }

/** Starts a simulation with `waiting` requests; `sent` lists them as they are sent. */
function simulate(waiting: number): Simulation {
  const clock = virtualClock()
  const simulation = { clock, rateLimiter: createRateLimiter(clock), sent: [] as Sent[] }
  acquire(simulation, waiting)
  return simulation
}

function acquire({ clock, rateLimiter, sent }: Simulation, count: number): void {
  for (let nth = 0; nth < count; nth += 1)
    void rateLimiter.acquire(neverAborted).then((permit) => sent.push({ at: clock.now(), permit }))
}

const times = ({ sent }: Simulation, from = 0) => sent.slice(from).map(({ at }) => Math.round(at))

/** The first six requests get their responses after 100 ms: five are granted, one is throttled. */
async function throttleOnce(simulation: Simulation, retryAfterMs: number | undefined): Promise<void> {
  await simulation.clock.runUntil(100)
  for (const { permit } of simulation.sent.splice(0, 5)) permit(GRANTED)
  simulation.sent.shift()?.permit(throttled(retryAfterMs))
}

test('sends few requests until the first responses arrive', async () => {
  const simulation = simulate(32)
  await simulation.clock.runUntil(60_000)
  expect(times(simulation)).toEqual(Array(8).fill(0))
})

test('allows half as many requests in flight as were granted', async () => {
  const simulation = simulate(500)
  let granted = 0
  for (let round = 1; round <= 9; round += 1) {
    await simulation.clock.runUntil(round * 100)
    expect(simulation.sent.length).toBe(Math.max(8, Math.ceil(granted / 2)))
    granted += simulation.sent.length
    for (const { permit } of simulation.sent.splice(0)) permit(GRANTED)
  }
  expect(granted).toBeGreaterThan(150)
})

test('pauses all requests for the duration of Retry-After', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, 7_000)
  acquire(simulation, 1)
  await simulation.clock.runUntil(7_099)
  expect(simulation.rateLimiter.pausedForMs()).toBe(1)
  expect(simulation.sent).toEqual([])
  await simulation.clock.runUntil(7_100)
  expect(times(simulation)).toEqual([7_100])
  expect(simulation.rateLimiter.pausedForMs()).toBe(0)
})

test('extends a pause when a request sent before it is throttled', async () => {
  const simulation = simulate(6)
  await simulation.clock.runUntil(100)
  const [first, second, ...others] = simulation.sent.splice(0)
  for (const { permit } of others) permit(GRANTED)
  first?.permit(throttled(1_000))
  acquire(simulation, 1)
  await simulation.clock.runUntil(900)
  second?.permit(throttled(5_000))
  await simulation.clock.runUntil(60_000)
  expect(times(simulation)).toEqual([5_900])
})

test('never shortens a pause', async () => {
  const { clock, rateLimiter, sent } = simulate(2)
  await clock.runUntil(100)
  sent[0]?.permit(throttled(9_000))
  sent[1]?.permit(throttled(0))
  expect(rateLimiter.pausedForMs()).toBe(9_000)
})

test('sends requests one by one after a pause, never in a burst', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, 2_000)
  acquire(simulation, 32)
  await simulation.clock.runUntil(3_000)
  const gaps = times(simulation).map((at, nth, all) => at - (all[nth - 1] ?? 2_000))
  expect(gaps.length).toBeGreaterThan(5)
  expect(Math.min(...gaps.slice(1))).toBeGreaterThan(50)
})

test('sends a single probe if the service reports no delay', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, undefined)
  acquire(simulation, 8)
  await simulation.clock.runUntil(10_000)
  expect(simulation.sent).toHaveLength(1)
  expect(simulation.sent[0]?.at).toBeGreaterThanOrEqual(350)
  expect(simulation.sent[0]?.at).toBeLessThanOrEqual(600)
  simulation.sent[0]?.permit(GRANTED)
  await simulation.clock.runUntil(60_000)
  expect(simulation.sent).toHaveLength(8)
})

test('backs off exponentially while probes are throttled', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, undefined)
  const pauses: number[] = []
  for (let tries = 0; tries < 8; tries += 1) {
    const pausedMs = simulation.rateLimiter.pausedForMs()
    pauses.push(pausedMs)
    acquire(simulation, 1)
    await simulation.clock.runUntil(simulation.clock.now() + pausedMs)
    simulation.sent.pop()?.permit(throttled())
  }
  pauses.forEach((pausedMs, tries) => {
    const ceiling = Math.min(30_000, 500 * 2 ** tries)
    expect(pausedMs).toBeGreaterThanOrEqual(ceiling / 2)
    expect(pausedMs).toBeLessThanOrEqual(ceiling)
  })
})

test('waits longer than Retry-After if that is too short', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, 10)
  for (let tries = 0; tries < 5; tries += 1) {
    acquire(simulation, 1)
    await simulation.clock.runUntil(simulation.clock.now() + simulation.rateLimiter.pausedForMs() + 1)
    simulation.sent.pop()?.permit(throttled(10))
  }
  expect(simulation.rateLimiter.pausedForMs()).toBeGreaterThan(4_000)
})

test('waits out an error with Retry-After and then ramps up again', async () => {
  const simulation = simulate(58)
  for (let round = 1; round <= 7; round += 1) {
    await simulation.clock.runUntil(round * 100)
    for (const { permit } of simulation.sent.splice(0)) permit(GRANTED)
  }
  acquire(simulation, 1)
  await simulation.clock.runUntil(800)
  simulation.sent.pop()?.permit({ kind: 'failed', retryAfterMs: 3_000 })
  acquire(simulation, 32)
  await simulation.clock.runUntil(60_000)
  expect(times(simulation)).toEqual(Array(8).fill(3_800))
})

test('does not burst after the pause of an error with Retry-After', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, 1_000)
  acquire(simulation, 1)
  await simulation.clock.runUntil(2_000)
  simulation.sent.pop()?.permit({ kind: 'failed', retryAfterMs: 3_000 })
  acquire(simulation, 32)
  await simulation.clock.runUntil(5_020)
  expect(times(simulation)).toEqual([5_000])
})

test('continues after one second although a response is missing', async () => {
  const simulation = simulate(6)
  await simulation.clock.runUntil(100)
  simulation.sent[0]?.permit(throttled(0))
  acquire(simulation, 1)
  await simulation.clock.runUntil(60_000)
  expect(times(simulation, 6)).toEqual([1_100])
})

test('waits for the responses of a burst before it continues', async () => {
  const simulation = simulate(6)
  await simulation.clock.runUntil(100)
  const [first, ...others] = simulation.sent.splice(0)
  first?.permit(throttled(0))
  acquire(simulation, 1)
  await simulation.clock.runUntil(400)
  for (const { permit } of others) permit(throttled(0))
  await simulation.clock.runUntil(60_000)
  expect(times(simulation)).toEqual([400])
})

test('ignores a late 429 for a request sent before the pause', async () => {
  const simulation = simulate(6)
  await simulation.clock.runUntil(100)
  const [first, second] = simulation.sent.splice(0)
  first?.permit(throttled(0))
  acquire(simulation, 1)
  await simulation.clock.runUntil(2_000)
  simulation.sent.pop()?.permit(GRANTED)
  second?.permit(throttled())
  expect(simulation.rateLimiter.pausedForMs()).toBe(0)
})

test('counts a throttled burst as one 429', async () => {
  const simulation = simulate(6)
  await simulation.clock.runUntil(100)
  for (const { permit } of simulation.sent.splice(0)) permit(throttled())
  expect(simulation.rateLimiter.pausedForMs()).toBeLessThanOrEqual(500)
})

test('learns nothing from an error without Retry-After', async () => {
  const simulation = simulate(1)
  await simulation.clock.runUntil(100)
  simulation.sent.pop()?.permit({ kind: 'failed', retryAfterMs: undefined })
  acquire(simulation, 6)
  await simulation.clock.runUntil(60_000)
  expect(times(simulation)).toEqual(Array(6).fill(100))
})

test('pauses before a 429 when the quota is used up', async () => {
  const simulation = simulate(6)
  await simulation.clock.runUntil(100)
  simulation.sent.splice(0).forEach(({ permit }, nth) => {
    permit({ kind: 'granted', remaining: 5 - nth, resetMs: 3_000 })
  })
  acquire(simulation, 1)
  expect(simulation.rateLimiter.pausedForMs()).toBe(3_000)
  await simulation.clock.runUntil(60_000)
  expect(times(simulation)).toEqual([3_100])
})

test('ignores a reset that may already be over', async () => {
  const simulation = simulate(1)
  await simulation.clock.runUntil(100)
  simulation.sent.pop()?.permit({ kind: 'granted', remaining: 0, resetMs: 1_000 })
  expect(simulation.rateLimiter.pausedForMs()).toBe(0)
})

test('has no more requests in flight than the remaining quota', async () => {
  const simulation = simulate(6)
  await simulation.clock.runUntil(100)
  acquire(simulation, 32)
  simulation.sent.splice(0, 5).forEach(({ permit }, nth) => {
    permit({ kind: 'granted', remaining: 8 - nth, resetMs: undefined })
  })
  await simulation.clock.runUntil(60_000)
  // After the fifth request, four remain: three of them are in flight.
  expect(simulation.sent).toHaveLength(4)
})

test('does not burst after a time without requests', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, 1_000)
  acquire(simulation, 3)
  await simulation.clock.runUntil(9_000)
  expect(simulation.sent).toHaveLength(3)
  acquire(simulation, 32)
  await simulation.clock.runUntil(9_000)
  expect(simulation.sent.length).toBeGreaterThan(3)
  expect(simulation.sent.length).toBeLessThanOrEqual(6)
})

test('rejects an aborted waiter and serves the next one', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, 1_000)
  const stop = new AbortController()
  const aborted = simulation.rateLimiter.acquire(stop.signal)
  acquire(simulation, 1)
  stop.abort(new Error('stop'))
  await expect(aborted).rejects.toThrow('stop')
  await expect(simulation.rateLimiter.acquire(stop.signal)).rejects.toThrow('stop')
  await simulation.clock.runUntil(60_000)
  expect(times(simulation)).toEqual([1_100])
})

test('handles a pause that exceeds the maximum timeout of a timer', async () => {
  const simulation = simulate(6)
  await throttleOnce(simulation, 2 ** 31)
  acquire(simulation, 1)
  await simulation.clock.runUntil(2 ** 31 + 99)
  expect(simulation.sent).toEqual([])
  await simulation.clock.runUntil(2 ** 31 + 100)
  expect(simulation.sent).toHaveLength(1)
})
