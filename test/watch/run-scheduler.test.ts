import { expect, test } from 'vitest'
import {
  createRunScheduler,
  type RunSchedulerOptions,
  type RunTrigger,
} from '../../src/watch/run-scheduler.ts'

/** A pacer on a clock of its own: time passes when told, and each run lasts until it is ended. */
function paced(given: Partial<RunSchedulerOptions> = {}) {
  let now = 1_000
  const timers = new Set<{ dueMs: number; run: () => void }>()
  const runs: { why: RunTrigger; atMs: number; end: (good?: boolean) => Promise<void> }[] = []
  const pacer = createRunScheduler({
    ...{ debounceMs: 5, finalityMs: 0, catchUpMs: 100, now: () => now },
    scheduleAfter: (delayMs, run) => {
      const timer = { dueMs: now + delayMs, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    run: (why) =>
      new Promise<boolean>((resolve) => {
        const end = async (good = true) => {
          resolve(good)
          await settled()
        }
        runs.push({ why, atMs: now, end })
      }),
    ...given,
  })
  const pass = async (ms: number) => {
    const until = now + ms
    for (;;) {
      const [next] = [...timers].filter(({ dueMs }) => dueMs <= until).sort((a, b) => a.dueMs - b.dueMs)
      if (next === undefined) break
      timers.delete(next)
      now = Math.max(now, next.dueMs)
      next.run()
      await settled()
    }
    now = until
  }
  const told = () => runs.map(({ why, atMs }) => [why, atMs - 1_000])
  const end = async (good = true) => runs.at(-1)?.end(good)
  return { pacer, pass, runs, told, end, timers }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('runs at once, then each time the catch-up is due', async () => {
  const { pacer, pass, told, end } = paced()
  void pacer.start()
  await pass(50)
  await end()
  await pass(99)
  expect(told()).toEqual([['start', 0]])
  await pass(1)
  expect(told()).toEqual([
    ['start', 0],
    ['catch-up', 150],
  ])
})

test('takes a burst of events together, however long it lasts', async () => {
  const { pacer, pass, told, end } = paced()
  void pacer.start()
  await end()
  for (let ms = 0; ms < 5; ms += 1) {
    pacer.notifyEvent()
    await pass(1)
  }
  expect(told()).toEqual([
    ['start', 0],
    ['event', 5],
  ])
})

test('never runs twice at once, and again for what came meanwhile', async () => {
  const { pacer, pass, told, end } = paced()
  void pacer.start()
  pacer.notifyEvent()
  pacer.notifyEvent()
  await pass(500)
  expect(told()).toEqual([['start', 0]])
  await end()
  await pass(5)
  expect(told()).toEqual([
    ['start', 0],
    ['late', 505],
  ])
})

test('does not run again for events that the last run saw', async () => {
  const { pacer, pass, told, end } = paced()
  void pacer.start()
  await end()
  pacer.notifyEvent()
  await pass(5)
  await end()
  await pass(99)
  expect(told()).toHaveLength(2)
})

test('waits until the last event of a burst is final', async () => {
  const { pacer, pass, told, end } = paced({ finalityMs: 20 })
  void pacer.start()
  await end()
  pacer.notifyEvent()
  await pass(10)
  pacer.notifyEvent()
  await pass(15)
  expect(told().at(-1)).toEqual(['event', 25])
  await end()
  await pass(10)
  expect(told().at(-1)).toEqual(['late', 35])
  await end()
  await pass(99)
  expect(told()).toHaveLength(3)
})

test('tries a failed run again without waiting for the catch-up', async () => {
  const { pacer, pass, told, end } = paced()
  void pacer.start()
  await end(false)
  await pass(5)
  expect(told()).toEqual([
    ['start', 0],
    ['late', 5],
  ])
})

test('rejects with what a run throws, and runs no more', async () => {
  const { pacer, timers } = paced({ run: () => Promise.reject(new Error('broken')) })
  await expect(pacer.start()).rejects.toThrow('broken')
  expect(timers.size).toBe(0)
})

test('waits for the run under way when stopped, and starts no other', async () => {
  const { pacer, pass, told, end, timers } = paced()
  void pacer.start()
  pacer.notifyEvent()
  let stopped = false
  const stopping = pacer.stop().then(() => {
    stopped = true
  })
  await settled()
  expect(stopped).toBe(false)
  await end()
  await stopping
  pacer.notifyEvent()
  await pass(1_000)
  expect(told()).toHaveLength(1)
  expect(timers.size).toBe(0)
})
