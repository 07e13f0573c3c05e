import type { StateStore } from '../../../src/cluster/rate-limit/redis-rate-limiter.ts'
import type { VirtualClock } from '../../http/rate-limit/virtual-clock.ts'

/** Time at the start of the virtual clock, in milliseconds since 1970. */
const BEGIN = 1_800_000_000_000

/** A store in memory with the compare-and-set of Redis. Each command takes up to `latencyMs`. */
export function memoryStore(clock: VirtualClock, latencyMs = 0) {
  const counts = { reads: 0, stored: 0, conflicts: 0 }
  let content = { json: '', revision: Buffer.alloc(0) }
  const transmit = () =>
    latencyMs === 0
      ? Promise.resolve()
      : new Promise<void>((resolve) => clock.setTimer(latencyMs * clock.random(), resolve))
  const store: StateStore = {
    read: async () => {
      counts.reads += 1
      const result = { ...content, now: BEGIN + clock.now() }
      await transmit()
      return result
    },
    replace: async (revision, json) => {
      await transmit()
      const isCurrent = content.revision.equals(revision)
      counts[isCurrent ? 'stored' : 'conflicts'] += 1
      if (isCurrent) content = { json, revision: Buffer.from(String(counts.stored)) }
      return isCurrent
    },
  }
  /** Deletes the state. */
  const lose = () => {
    content = { json: '', revision: Buffer.alloc(0) }
  }
  return { store, counts, lose }
}
