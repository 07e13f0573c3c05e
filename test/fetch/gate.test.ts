import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createGate, type Gate } from '../../src/fetch/gate.ts'

const NOTHING = { remaining: undefined, resetMs: undefined }
const calm = new AbortController().signal

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

const gateNow = () => createGate({ now: () => Date.now(), dice: () => 1 })

/** Milliseconds from now at which each of `count` requests leaves, filled in as they do. */
function depart(gate: Gate, count: number): number[] {
  const start = Date.now()
  const left: number[] = []
  for (let at = 0; at < count; at += 1) void gate.take(calm).then(() => left.push(Date.now() - start))
  return left
}

/** Lets the gate see a grant every `everyMs`. */
async function grantAll(gate: Gate, { count, everyMs }: { count: number; everyMs: number }): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    gate.granted(NOTHING)
    await vi.advanceTimersByTimeAsync(everyMs)
  }
}

/** Milliseconds between departures in a row of `count` after the pause. */
async function gapsOf(gate: Gate, count: number): Promise<number[]> {
  const left = depart(gate, count)
  await vi.advanceTimersByTimeAsync(1_000)
  return left.slice(1).map((time, at) => time - (left[at] ?? 0))
}

test('lets everyone through at once while no limit is known', async () => {
  const left = depart(gateNow(), 100)
  await vi.advanceTimersByTimeAsync(0)
  expect(left).toEqual(Array(100).fill(0))
})

test('holds everyone for as long as the service asked', async () => {
  const gate = gateNow()
  gate.refused({ takenMs: Date.now(), retryAfterMs: 7_000 })
  const left = depart(gate, 3)
  expect(gate.pausedMs()).toBe(7_000)
  await vi.advanceTimersByTimeAsync(6_999)
  expect(left).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(left).toEqual([7_000])
  expect(gate.pausedMs()).toBe(0)
})

test('holds those too who waited before the refusal came', async () => {
  const gate = gateNow()
  gate.refused({ takenMs: Date.now(), retryAfterMs: 1_000 })
  const left = depart(gate, 1)
  await vi.advanceTimersByTimeAsync(999)
  gate.refused({ takenMs: Date.now() - 999, retryAfterMs: 5_000 })
  await vi.advanceTimersByTimeAsync(4_999)
  expect(left).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(left).toEqual([5_999])
})

test('never shortens a pause by a later, smaller one', async () => {
  const gate = gateNow()
  gate.refused({ takenMs: Date.now(), retryAfterMs: 9_000 })
  gate.refused({ takenMs: Date.now(), retryAfterMs: 0 })
  expect(gate.pausedMs()).toBe(9_000)
})

test('lets them out one by one after a pause, never as a herd', async () => {
  const gate = gateNow()
  await grantAll(gate, { count: 20, everyMs: 90 })
  gate.refused({ takenMs: Date.now(), retryAfterMs: 2_000 })
  const left = depart(gate, 5)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(left).toEqual([2_000, 2_100, 2_200, 2_300, 2_400])
})

test('slows down with each refusal of the rate it learnt', async () => {
  const gate = gateNow()
  await grantAll(gate, { count: 20, everyMs: 90 })
  const gaps: number[] = []
  for (let refusals = 0; refusals < 3; refusals += 1) {
    gate.refused({ takenMs: Date.now(), retryAfterMs: 0 })
    const [gap] = await gapsOf(gate, 2)
    gaps.push(gap ?? 0)
  }
  expect(gaps[0]).toBe(100)
  expect(gaps[1]).toBeGreaterThan(100)
  expect(gaps[2]).toBeGreaterThan(gaps[1] ?? 0)
})

test('learns no rate from a fault that names a time', async () => {
  const gate = gateNow()
  gate.refused({ takenMs: undefined, retryAfterMs: 100 })
  expect(await gapsOf(gate, 4)).toEqual([0, 0, 0])
})

test('learns one refusal from requests that left together', async () => {
  const gate = gateNow()
  await grantAll(gate, { count: 20, everyMs: 90 })
  const takenMs = Date.now()
  for (let herd = 0; herd < 16; herd += 1) gate.refused({ takenMs, retryAfterMs: 0 })
  expect(await gapsOf(gate, 2)).toEqual([100])
})

test('speeds up again as answers are granted', async () => {
  const gate = gateNow()
  await grantAll(gate, { count: 20, everyMs: 90 })
  gate.refused({ takenMs: Date.now(), retryAfterMs: 0 })
  for (let grants = 0; grants < 500; grants += 1) gate.granted(NOTHING)
  const [gap] = await gapsOf(gate, 2)
  expect(gap).toBeLessThan(10)
})

test('waits longer with each refusal that names no time', async () => {
  const gate = gateNow()
  const pauses: number[] = []
  for (let refusals = 0; refusals < 8; refusals += 1) {
    gate.refused({ takenMs: Date.now(), retryAfterMs: undefined })
    pauses.push(gate.pausedMs())
    await vi.advanceTimersByTimeAsync(60_000)
  }
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})

test('pauses before a quota that is used up refuses', async () => {
  const gate = gateNow()
  gate.granted({ remaining: 0, resetMs: 3_000 })
  gate.granted({ remaining: 4, resetMs: 9_000 })
  gate.granted({ remaining: 0, resetMs: undefined })
  expect(gate.pausedMs()).toBe(3_000)
})

test('sends away who is aborted and lets the next one pass', async () => {
  const gate = gateNow()
  gate.refused({ takenMs: Date.now(), retryAfterMs: 1_000 })
  const stop = new AbortController()
  const gone = gate.take(stop.signal)
  const left = depart(gate, 1)
  stop.abort(new Error('stop'))
  await expect(gone).rejects.toThrow('stop')
  await expect(gate.take(stop.signal)).rejects.toThrow('stop')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(left).toEqual([1_000])
})

test('outlasts a pause longer than a timer can run', async () => {
  const gate = gateNow()
  gate.refused({ takenMs: Date.now(), retryAfterMs: 2 ** 31 })
  const left = depart(gate, 1)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(left).toEqual([])
})
