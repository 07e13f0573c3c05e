import { ExportError } from '../model/errors.ts'

/**
 * Creates a controller that is aborted together with `signal`. Its reason is always an `ExportError`: the
 * reason of `signal` if that is one, otherwise INTERRUPTED with `message`. `unlink` removes the listener from
 * `signal`.
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

/** Rejects with the signal's reason as soon as it is aborted. The underlying operation is not cancelled. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
