import { ExportError } from '../model/errors.ts'

/**
 * Ends with another signal. Whatever that one's reason is, ours is an error of ours: the reason itself if it is one, else
 * INTERRUPTED with these words. `forget` lets go of the other.
 */
export function linkAbortSignal(
  signal: AbortSignal | undefined,
  message: string,
): { controller: AbortController; unlink: () => void } {
  const controller = new AbortController()
  const abort = () => {
    const cause: unknown = signal?.reason
    controller.abort(
      cause instanceof ExportError ? cause : new ExportError('INTERRUPTED', message, { cause }),
    )
  }
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return { controller, unlink: () => signal?.removeEventListener('abort', abort) }
}

/** Rejects as soon as the signal is aborted, with its reason; what was under way goes on by itself. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
