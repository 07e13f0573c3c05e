import { LARGE_BODIES_BYTES } from '../core/model/limits.ts'

/** Limits the memory of the large responses that are in flight at once. */
export type BodyBudget = {
  /**
   * Reserves `bytes`, capped at the whole budget. Calls `onGranted` once they are available, immediately or
   * later.
   *
   * @returns a function that releases the bytes, or cancels the reservation if it is still waiting; calling
   *   it again has no effect
   */
  reserve(bytes: number, onGranted: () => void): () => void
}

type Reservation = { bytes: number; onGranted: () => void }

/** Creates a budget that grants reservations first come, first served. */
export function createBodyBudget(totalBytes: number): BodyBudget {
  let used = 0
  const waiting: Reservation[] = []
  const granted = new Set<Reservation>()
  const grantWaiting = () => {
    for (let next = waiting[0]; next !== undefined && used + next.bytes <= totalBytes; next = waiting[0]) {
      waiting.shift()
      used += next.bytes
      granted.add(next)
      next.onGranted()
    }
  }
  return {
    reserve: (bytes, onGranted) => {
      const reservation = { bytes: Math.min(bytes, totalBytes), onGranted }
      waiting.push(reservation)
      grantWaiting()
      return () => {
        const index = waiting.indexOf(reservation)
        if (index >= 0) waiting.splice(index, 1)
        if (granted.delete(reservation)) used -= reservation.bytes
        grantWaiting()
      }
    },
  }
}

/** The budget of this process. All of its clients share it. */
export const largeBodyBudget = createBodyBudget(LARGE_BODIES_BYTES)
