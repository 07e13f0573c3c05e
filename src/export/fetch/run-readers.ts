import { setMaxListeners } from 'node:events'
import { ExportError } from '../../core/model/errors.ts'

export type Readers = {
  /** How many at once. */
  count: number
  /** Ends all of them when it is aborted. */
  signal: AbortSignal
  /** Called once, with the signal that their requests are to listen to. */
  open: (signal: AbortSignal) => Reading
}

export type Reading = {
  /** One reader: reads until nothing is left, or until the budget is spent: what is in flight may still arrive. */
  read: (isSpent: () => boolean) => Promise<void>
  /** Called when a reader fails, or is out of budget. */
  onFailure?: () => void
}

/** Runs so many readers until all have ended. The first failure but a spent budget stops all; it is thrown. */
export async function runReaders({ count, signal, open }: Readers): Promise<void> {
  const failed = new AbortController()
  const stopping = AbortSignal.any([signal, failed.signal])
  // Every request in flight listens to it: many listeners are no leak here.
  setMaxListeners(0, stopping)
  const { read, onFailure } = open(stopping)
  let isSpent = false
  const readers = Array.from({ length: count }, () =>
    read(() => isSpent).catch((thrown: unknown) => {
      if (isBudget(thrown)) isSpent = true
      else failed.abort(thrown)
      onFailure?.()
      throw thrown
    }),
  )
  const ended = await Promise.allSettled(readers)
  failed.signal.throwIfAborted()
  for (const reader of ended) if (reader.status === 'rejected') throw reader.reason
}

function isBudget(thrown: unknown): boolean {
  return thrown instanceof ExportError && thrown.code === 'BUDGET_REACHED'
}
