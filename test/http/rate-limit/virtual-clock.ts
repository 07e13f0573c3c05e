import type { LimiterClock } from '../../../src/http/rate-limit/rate-limiter.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'

export type VirtualClock = LimiterClock & {
  /** Advances the time, event by event, to `time` (ms since the start). */
  runUntil(time: number): Promise<void>
}

type Event = { at: number; nth: number; call: () => void }

export type VirtualClockOptions = {
  /** Seed of the random numbers. */
  seed?: number
  /** Maximum delay of timers (ms), as in a busy process. */
  lateMs?: number
}

/** Creates a clock that advances only in `runUntil`, so that hours take milliseconds. */
export function virtualClock({ seed = 1, lateMs = 0 }: VirtualClockOptions = {}): VirtualClock {
  const random = createSeededRandom(seed).next
  const events: Event[] = []
  let now = 0
  let count = 0
  return {
    now: () => now,
    random,
    setTimer: (ms, call) => {
      count += 1
      const event = { at: now + Math.max(0, ms) + lateMs * random(), nth: count, call }
      insert(events, event)
      return () => {
        const at = events.indexOf(event)
        if (at >= 0) events.splice(at, 1)
      }
    },
    runUntil: async (time) => {
      await flushPromises()
      for (let next = events[0]; next !== undefined && next.at <= time; next = events[0]) {
        events.shift()
        now = next.at
        next.call()
        await flushPromises()
      }
      now = Math.max(now, Math.min(time, Number.MAX_SAFE_INTEGER))
    },
  }
}

/** Waits until all pending promise callbacks have run. */
const flushPromises = () => new Promise((resolve) => setImmediate(resolve))

function insert(events: Event[], event: Event): void {
  const at = events.findLastIndex((other) => other.at <= event.at) + 1
  events.splice(at, 0, event)
}
