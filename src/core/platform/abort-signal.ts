import { ExportError } from '../model/errors.ts'

/**
 * Ends with another signal. Whatever that one's reason is, ours is an error of ours: the reason itself if it is one, else
 * INTERRUPTED with these words. `forget` lets go of the other.
 */
export function followSignal(
  given: AbortSignal | undefined,
  words: string,
): { stop: AbortController; forget: () => void } {
  const stop = new AbortController()
  const abort = () => {
    const cause: unknown = given?.reason
    stop.abort(cause instanceof ExportError ? cause : new ExportError('INTERRUPTED', words, { cause }))
  }
  if (given?.aborted) abort()
  given?.addEventListener('abort', abort, { once: true })
  return { stop, forget: () => given?.removeEventListener('abort', abort) }
}

/** Rejects as soon as the signal is aborted, with its reason; what was under way goes on by itself. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
