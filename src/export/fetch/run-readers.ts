import { setMaxListeners } from 'node:events'
import { ExportError } from '../../core/model/errors.ts'

export type RunReadersOptions = {
  /** Number of concurrent readers. */
  count: number
  /** Stops all readers. */
  signal: AbortSignal
  /** Called once, with the signal that the requests of the readers must observe. */
  open: (signal: AbortSignal) => ReaderTask
}

export type ReaderTask = {
  /** Runs one reader until nothing is left or the budget is spent. Requests in flight may still complete. */
  run: (isBudgetSpent: () => boolean) => Promise<void>
  /** Called when a reader fails or the budget is spent. */
  onFailure?: () => void
}

/**
 * Runs `count` readers until all have ended. The first failure aborts the others and is thrown. A spent
 * budget does not abort requests in flight.
 */
export async function runReaders({ count, signal, open }: RunReadersOptions): Promise<void> {
  const failed = new AbortController()
  const stopping = AbortSignal.any([signal, failed.signal])
  // Every request in flight adds a listener, so many listeners are not a leak.
  setMaxListeners(0, stopping)
  const { run, onFailure } = open(stopping)
  let isBudgetSpent = false
  const readers = Array.from({ length: count }, () =>
    run(() => isBudgetSpent).catch((thrown: unknown) => {
      if (isBudgetReached(thrown)) isBudgetSpent = true
      else failed.abort(thrown)
      onFailure?.()
      throw thrown
    }),
  )
  const results = await Promise.allSettled(readers)
  failed.signal.throwIfAborted()
  for (const reader of results) if (reader.status === 'rejected') throw reader.reason
}

function isBudgetReached(thrown: unknown): boolean {
  return thrown instanceof ExportError && thrown.code === 'BUDGET_REACHED'
}
