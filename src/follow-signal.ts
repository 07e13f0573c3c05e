import { ExportError } from './errors.ts'

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
