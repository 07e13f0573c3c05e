import pLimit from 'p-limit'

/** Keeps the number of requests in flight at or below `most`; the others wait in the order they came. */
export function limitConcurrency(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  return pLimit(max)
}
