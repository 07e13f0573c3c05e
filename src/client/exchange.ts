import type { Dispatcher } from 'undici'
import type { BodyMemory } from './body-memory.ts'

/** An answer as it came over the wire. */
export type Exchange = {
  status: number
  /** Lower-case names; a repeated header's values joined by a comma. */
  headers: Record<string, string>
  /** The whole body, packed; undefined where that of an error did not arrive whole: its status counts all the same. */
  body: Buffer | undefined
}

export type Ending = {
  signal: AbortSignal
  /** For the whole answer, in milliseconds. */
  timeoutMs: number
  /** What the body comes in. */
  memory: BodyMemory
}

/** What an exchange is rejected with that took too long. */
export class TimeoutError extends Error {}

/**
 * Sends one request and collects the answer, without the streams that a body of hundreds of kilobytes does not need. Rejects
 * with a TimeoutError, the signal's reason, or the fault of the connection.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, timeoutMs, memory }: Ending,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let begun: Pick<Exchange, 'status' | 'headers'> | undefined
    let controller: Dispatcher.DispatchController | undefined
    let stopped: Error | undefined
    const leave = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
    const stop = (reason: Error) => {
      stopped = reason
      controller?.abort(reason)
      fail(reason)
    }
    const fail = (fault: unknown) => {
      leave()
      if (begun !== undefined && begun.status >= 300) resolve({ ...begun, body: undefined })
      else reject(fault)
    }
    const abort = () => stop(signal.reason)
    const timer = setTimeout(
      () => stop(new TimeoutError(`no whole answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    dispatcher.dispatch(request, {
      onRequestStart: (begin) => {
        controller = begin
        if (stopped !== undefined) begin.abort(stopped)
      },
      onResponseStart: (_, status, headers) => {
        if (status >= 200) begun = { status, headers: flattenHeaders(headers) }
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk)
      },
      onResponseEnd: () => {
        leave()
        if (begun !== undefined) resolve({ ...begun, body: memory.join(chunks) })
      },
      onResponseError: (_, fault) => fail(fault),
    })
  })
}

function flattenHeaders(raw: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}
