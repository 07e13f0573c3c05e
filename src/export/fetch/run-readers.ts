import { setMaxListeners } from 'node:events'
import { ExportError } from '../../core/model/errors.ts'

export type RunReadersOptions = {
  /** How many at once. */
  count: number
  /** Ends all of them when it is aborted. */
  signal: AbortSignal
  /** Called once, with the signal that their requests are to listen to. */
  open: (signal: AbortSignal) => ReaderTask
}

export type ReaderTask = {
  /** One reader: reads until nothing is left, or until the budget is spent: what is in flight may still arrive. */
  run: (isBudgetSpent: () => boolean) => Promise<void>
  /** Called when a reader fails, or is out of budget. */
  onFailure?: () => void
}

/** Runs so many readers until all have ended. The first failure but a spent budget stops all; it is thrown. */
export async function runReaders({ count, signal, open }: RunReadersOptions): Promise<void> {
  const failed = new AbortController()
  const stopping = AbortSignal.any([signal, failed.signal])
  // Every request in flight listens to it: many listeners are no leak here.
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
