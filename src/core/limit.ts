import pLimit from 'p-limit'
import type { Asker } from '../client/request.ts'

/** Keeps the number of requests in flight at or below `most`; the others wait in the order they came. */
export function limitConcurrency(most: number): Asker['limit'] {
  return pLimit(most)
}
