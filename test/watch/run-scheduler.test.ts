import { expect, test } from 'vitest'
import {
  createRunScheduler,
  type RunSchedulerOptions,
  type RunTrigger,
} from '../../src/watch/run-scheduler.ts'

/** A scheduler with a simulated clock. `pass` advances time; a run lasts until `end` is called. */
function openScheduler(given: Partial<RunSchedulerOptions> = {}) {
  let now = 1_000
  const timers = new Set<{ dueMs: number; run: () => void }>()
  const runs: { trigger: RunTrigger; atMs: number; end: (good?: boolean) => Promise<void> }[] = []
  const scheduler = createRunScheduler({
    debounceMs: 5,
    finalityMs: 0,
    catchUpMs: 100,
    now: () => now,
    scheduleAfter: (delayMs, run) => {
      const timer = { dueMs: now + delayMs, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    run: (trigger) =>
      new Promise<boolean>((resolve) => {
        const end = async (good = true) => {
          resolve(good)
          await nextTurn()
        }
        runs.push({ trigger, atMs: now, end })
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
      await nextTurn()
    }
    now = until
  }
  const triggers = () => runs.map(({ trigger, atMs }) => [trigger, atMs - 1_000])
  const end = async (good = true) => runs.at(-1)?.end(good)
  return { scheduler, pass, runs, triggers, end, timers }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('runs at once, then whenever a catch-up run is due', async () => {
  const { scheduler, pass, triggers, end } = openScheduler()
  void scheduler.start()
  await pass(50)
  await end()
  await pass(99)
  expect(triggers()).toEqual([['start', 0]])
  await pass(1)
  expect(triggers()).toEqual([
    ['start', 0],
    ['catch-up', 150],
  ])
})

test('covers a burst of events with one run', async () => {
  const { scheduler, pass, triggers, end } = openScheduler()
  void scheduler.start()
  await end()
  for (let ms = 0; ms < 5; ms += 1) {
    scheduler.notifyEvent()
    await pass(1)
  }
  expect(triggers()).toEqual([
    ['start', 0],
    ['event', 5],
  ])
})

test('never overlaps runs, and runs again for events during a run', async () => {
  const { scheduler, pass, triggers, end } = openScheduler()
  void scheduler.start()
  scheduler.notifyEvent()
  scheduler.notifyEvent()
  await pass(500)
  expect(triggers()).toEqual([['start', 0]])
  await end()
  await pass(5)
  expect(triggers()).toEqual([
    ['start', 0],
    ['late', 505],
  ])
})

test('does not run again for events that the last run covered', async () => {
  const { scheduler, pass, triggers, end } = openScheduler()
  void scheduler.start()
  await end()
  scheduler.notifyEvent()
  await pass(5)
  await end()
  await pass(99)
  expect(triggers()).toHaveLength(2)
})

test('waits until the last event of a burst is final', async () => {
  const { scheduler, pass, triggers, end } = openScheduler({ finalityMs: 20 })
  void scheduler.start()
  await end()
  scheduler.notifyEvent()
  await pass(10)
  scheduler.notifyEvent()
  await pass(15)
  expect(triggers().at(-1)).toEqual(['event', 25])
  await end()
  await pass(10)
  expect(triggers().at(-1)).toEqual(['late', 35])
  await end()
  await pass(99)
  expect(triggers()).toHaveLength(3)
})

test('retries a failed run without waiting for the catch-up run', async () => {
  const { scheduler, pass, triggers, end } = openScheduler()
  void scheduler.start()
  await end(false)
  await pass(5)
  expect(triggers()).toEqual([
    ['start', 0],
    ['late', 5],
  ])
})

test('rejects with the error of a run, and runs no more', async () => {
  const { scheduler, timers } = openScheduler({ run: () => Promise.reject(new Error('broken')) })
  await expect(scheduler.start()).rejects.toThrow('broken')
  expect(timers.size).toBe(0)
})

test('waits for the current run when stopped, and starts no other', async () => {
  const { scheduler, pass, triggers, end, timers } = openScheduler()
  void scheduler.start()
  scheduler.notifyEvent()
  let stopped = false
  const stopping = scheduler.stop().then(() => {
    stopped = true
  })
  await nextTurn()
  expect(stopped).toBe(false)
  await end()
  await stopping
  scheduler.notifyEvent()
  await pass(1_000)
  expect(triggers()).toHaveLength(1)
  expect(timers.size).toBe(0)
})
