import pLimit from 'p-limit'

/** Limits how many tasks run at once; the others wait in order. */
export function limitConcurrency(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  return pLimit(max)
}
