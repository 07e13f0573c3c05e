import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import {
  createRateLimiter,
  type Permit,
  type RateLimiter,
} from '../../../src/http/rate-limit/rate-limiter.ts'
import { type VirtualClock, virtualClock } from './virtual-clock.ts'

const GRANTED = { kind: 'granted', remaining: undefined, resetMs: undefined } as const
const refused = (retryAfterMs?: number) => ({ kind: 'throttled', retryAfterMs }) as const
const calm = new AbortController().signal
setMaxListeners(0, calm)

type Left = { at: number; pass: Permit }
type World = { clock: VirtualClock; rateLimiter: RateLimiter; left: Left[] }

/** `waiting` requests want to leave; they are listed as they do. */
function worldOf(waiting: number): World {
  const clock = virtualClock()
  const world = { clock, rateLimiter: createRateLimiter(clock), left: [] as Left[] }
  depart(world, waiting)
  return world
}

function depart({ clock, rateLimiter, left }: World, count: number): void {
  for (let nth = 0; nth < count; nth += 1)
    void rateLimiter.acquire(calm).then((pass) => left.push({ at: clock.now(), pass }))
}

const times = ({ left }: World, from = 0) => left.slice(from).map(({ at }) => Math.round(at))

/** The six requests that leave at first are answered after 100 ms: five granted, then one refused. */
async function refusedOnce(world: World, retryAfterMs: number | undefined): Promise<void> {
  await world.clock.runUntil(100)
  for (const { pass } of world.left.splice(0, 5)) pass(GRANTED)
  world.left.shift()?.pass(refused(retryAfterMs))
}

test('lets few requests leave until the first answers come', async () => {
  const world = worldOf(32)
  await world.clock.runUntil(60_000)
  expect(times(world)).toEqual(Array(8).fill(0))
})

test('lets as many be in flight as half of what was granted', async () => {
  const world = worldOf(500)
  let granted = 0
  for (let round = 1; round <= 9; round += 1) {
    await world.clock.runUntil(round * 100)
    expect(world.left.length).toBe(Math.max(8, Math.ceil(granted / 2)))
    granted += world.left.length
    for (const { pass } of world.left.splice(0)) pass(GRANTED)
  }
  expect(granted).toBeGreaterThan(150)
})

test('holds everyone for as long as the service asked', async () => {
  const world = worldOf(6)
  await refusedOnce(world, 7_000)
  depart(world, 1)
  await world.clock.runUntil(7_099)
  expect(world.rateLimiter.pausedForMs()).toBe(1)
  expect(world.left).toEqual([])
  await world.clock.runUntil(7_100)
  expect(times(world)).toEqual([7_100])
  expect(world.rateLimiter.pausedForMs()).toBe(0)
})

test('prolongs a pause when a request that left before it is refused', async () => {
  const world = worldOf(6)
  await world.clock.runUntil(100)
  const [first, second, ...others] = world.left.splice(0)
  for (const { pass } of others) pass(GRANTED)
  first?.pass(refused(1_000))
  depart(world, 1)
  await world.clock.runUntil(900)
  second?.pass(refused(5_000))
  await world.clock.runUntil(60_000)
  expect(times(world)).toEqual([5_900])
})

test('never shortens a pause by a later, smaller one', async () => {
  const { clock, rateLimiter, left } = worldOf(2)
  await clock.runUntil(100)
  left[0]?.pass(refused(9_000))
  left[1]?.pass(refused(0))
  expect(rateLimiter.pausedForMs()).toBe(9_000)
})

test('lets them leave one by one after a pause, never as a herd', async () => {
  const world = worldOf(6)
  await refusedOnce(world, 2_000)
  depart(world, 32)
  await world.clock.runUntil(3_000)
  const gaps = times(world).map((at, nth, all) => at - (all[nth - 1] ?? 2_000))
  expect(gaps.length).toBeGreaterThan(5)
  expect(Math.min(...gaps.slice(1))).toBeGreaterThan(50)
})

test('sends one ahead where the service does not say how long to wait', async () => {
  const world = worldOf(6)
  await refusedOnce(world, undefined)
  depart(world, 8)
  await world.clock.runUntil(10_000)
  expect(world.left).toHaveLength(1)
  expect(world.left[0]?.at).toBeGreaterThanOrEqual(350)
  expect(world.left[0]?.at).toBeLessThanOrEqual(600)
  world.left[0]?.pass(GRANTED)
  await world.clock.runUntil(60_000)
  expect(world.left).toHaveLength(8)
})

test('waits longer each time that the one sent ahead is refused', async () => {
  const world = worldOf(6)
  await refusedOnce(world, undefined)
  const pauses: number[] = []
  for (let tries = 0; tries < 8; tries += 1) {
    const pausedMs = world.rateLimiter.pausedForMs()
    pauses.push(pausedMs)
    depart(world, 1)
    await world.clock.runUntil(world.clock.now() + pausedMs)
    world.left.pop()?.pass(refused())
  }
  pauses.forEach((pausedMs, tries) => {
    const ceiling = Math.min(30_000, 500 * 2 ** tries)
    expect(pausedMs).toBeGreaterThanOrEqual(ceiling / 2)
    expect(pausedMs).toBeLessThanOrEqual(ceiling)
  })
})

test('waits longer than told where what was told is too little', async () => {
  const world = worldOf(6)
  await refusedOnce(world, 10)
  for (let tries = 0; tries < 5; tries += 1) {
    depart(world, 1)
    await world.clock.runUntil(world.clock.now() + world.rateLimiter.pausedForMs() + 1)
    world.left.pop()?.pass(refused(10))
  }
  expect(world.rateLimiter.pausedForMs()).toBeGreaterThan(4_000)
})

test('waits out a fault that names a time and begins anew with few', async () => {
  const world = worldOf(58)
  for (let round = 1; round <= 7; round += 1) {
    await world.clock.runUntil(round * 100)
    for (const { pass } of world.left.splice(0)) pass(GRANTED)
  }
  depart(world, 1)
  await world.clock.runUntil(800)
  world.left.pop()?.pass({ kind: 'failed', retryAfterMs: 3_000 })
  depart(world, 32)
  await world.clock.runUntil(60_000)
  expect(times(world)).toEqual(Array(8).fill(3_800))
})

test('lets no herd leave after the pause for a fault', async () => {
  const world = worldOf(6)
  await refusedOnce(world, 1_000)
  depart(world, 1)
  await world.clock.runUntil(2_000)
  world.left.pop()?.pass({ kind: 'failed', retryAfterMs: 3_000 })
  depart(world, 32)
  await world.clock.runUntil(5_020)
  expect(times(world)).toEqual([5_000])
})

test('goes on after a second though an answer does not come', async () => {
  const world = worldOf(6)
  await world.clock.runUntil(100)
  world.left[0]?.pass(refused(0))
  depart(world, 1)
  await world.clock.runUntil(60_000)
  expect(times(world, 6)).toEqual([1_100])
})

test('waits for the answers of a herd before it goes on', async () => {
  const world = worldOf(6)
  await world.clock.runUntil(100)
  const [first, ...others] = world.left.splice(0)
  first?.pass(refused(0))
  depart(world, 1)
  await world.clock.runUntil(400)
  for (const { pass } of others) pass(refused(0))
  await world.clock.runUntil(60_000)
  expect(times(world)).toEqual([400])
})

test('takes a late refusal of a request from before the pause for no news', async () => {
  const world = worldOf(6)
  await world.clock.runUntil(100)
  const [first, second] = world.left.splice(0)
  first?.pass(refused(0))
  depart(world, 1)
  await world.clock.runUntil(2_000)
  world.left.pop()?.pass(GRANTED)
  second?.pass(refused())
  expect(world.rateLimiter.pausedForMs()).toBe(0)
})

test('takes a herd that is refused for one refusal', async () => {
  const world = worldOf(6)
  await world.clock.runUntil(100)
  for (const { pass } of world.left.splice(0)) pass(refused())
  expect(world.rateLimiter.pausedForMs()).toBeLessThanOrEqual(500)
})

test('learns nothing from a fault that names no time', async () => {
  const world = worldOf(1)
  await world.clock.runUntil(100)
  world.left.pop()?.pass({ kind: 'failed', retryAfterMs: undefined })
  depart(world, 6)
  await world.clock.runUntil(60_000)
  expect(times(world)).toEqual(Array(6).fill(100))
})

test('pauses before a quota that is used up refuses', async () => {
  const world = worldOf(6)
  await world.clock.runUntil(100)
  world.left.splice(0).forEach(({ pass }, nth) => {
    pass({ kind: 'granted', remaining: 5 - nth, resetMs: 3_000 })
  })
  depart(world, 1)
  expect(world.rateLimiter.pausedForMs()).toBe(3_000)
  await world.clock.runUntil(60_000)
  expect(times(world)).toEqual([3_100])
})

test('waits for no reset that may be over at once', async () => {
  const world = worldOf(1)
  await world.clock.runUntil(100)
  world.left.pop()?.pass({ kind: 'granted', remaining: 0, resetMs: 1_000 })
  expect(world.rateLimiter.pausedForMs()).toBe(0)
})

test('has no more in flight than the service says are left', async () => {
  const world = worldOf(6)
  await world.clock.runUntil(100)
  depart(world, 32)
  world.left.splice(0, 5).forEach(({ pass }, nth) => {
    pass({ kind: 'granted', remaining: 8 - nth, resetMs: undefined })
  })
  await world.clock.runUntil(60_000)
  // After the fifth request, four are left: three of them are in flight.
  expect(world.left).toHaveLength(4)
})

test('lets no herd leave after a lull in which nobody asked', async () => {
  const world = worldOf(6)
  await refusedOnce(world, 1_000)
  depart(world, 3)
  await world.clock.runUntil(9_000)
  expect(world.left).toHaveLength(3)
  depart(world, 32)
  await world.clock.runUntil(9_000)
  expect(world.left.length).toBeGreaterThan(3)
  expect(world.left.length).toBeLessThanOrEqual(6)
})

test('sends away who is aborted and lets the next one pass', async () => {
  const world = worldOf(6)
  await refusedOnce(world, 1_000)
  const stop = new AbortController()
  const gone = world.rateLimiter.acquire(stop.signal)
  depart(world, 1)
  stop.abort(new Error('stop'))
  await expect(gone).rejects.toThrow('stop')
  await expect(world.rateLimiter.acquire(stop.signal)).rejects.toThrow('stop')
  await world.clock.runUntil(60_000)
  expect(times(world)).toEqual([1_100])
})

test('outlasts a pause longer than a timer can run', async () => {
  const world = worldOf(6)
  await refusedOnce(world, 2 ** 31)
  depart(world, 1)
  await world.clock.runUntil(2 ** 31 + 99)
  expect(world.left).toEqual([])
  await world.clock.runUntil(2 ** 31 + 100)
  expect(world.left).toHaveLength(1)
})
