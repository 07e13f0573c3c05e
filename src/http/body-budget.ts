import { LARGE_BODIES_BYTES } from '../core/model/limits.ts'

/** Shares memory among the large responses that are in flight at once. */
export type BodyBudget = {
  /**
   * Asks for so many bytes, at most those of the whole budget; `onGranted` is called once they are free, at once or later.
   * What it returns gives them back, or withdraws the request where it still waits; calling it again does nothing.
   */
  reserve(bytes: number, onGranted: () => void): () => void
}

type Reservation = { bytes: number; onGranted: () => void }

/** Grants requests in the order in which they came. */
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

/** The budget of this process: memory is shared by all of its clients. */
export const largeBodyBudget = createBodyBudget(LARGE_BODIES_BYTES)
