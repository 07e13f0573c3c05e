import type { Dispatcher } from 'undici'
import { MAX_BODY_BYTES } from '../core/model/limits.ts'
import type { BodyMemory } from './buffer-pool.ts'
import { isPacked, tooLarge } from './decompress.ts'
import { type Flow, receiveBody } from './receive-body.ts'

/** An answer as it came over the wire. */
export type Exchange = {
  status: number
  /** Lower-case names; a repeated header's values joined by a comma. */
  headers: Record<string, string>
  /** The whole body, packed; undefined where that of an error did not arrive whole: its status counts all the same. */
  body: Buffer | undefined
  /** Gives back the body's share of the memory for large bodies; undefined where it has none. */
  release: (() => void) | undefined
}

export type Ending = {
  signal: AbortSignal
  /** For the whole answer, in milliseconds. */
  timeoutMs: number
  /** What the body comes in. */
  memory: BodyMemory
  /** Bytes that the body may have as it is sent. */
  maxBodyBytes: number
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
  { signal, timeoutMs, memory, maxBodyBytes }: Ending,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    let begun: Pick<Exchange, 'status' | 'headers'> | undefined
    let controller: Dispatcher.DispatchController | undefined
    let stopped: Error | undefined
    const fail = (fault: unknown) => {
      limit.end()
      received.release()
      if (begun !== undefined && begun.status >= 300)
        resolve({ ...begun, body: undefined, release: undefined })
      else reject(fault)
    }
    const stop = (reason: Error) => {
      stopped = reason
      controller?.abort(reason)
      fail(reason)
    }
    const limit = limitTime({ signal, timeoutMs }, stop)
    const received = receiveBody({
      share: () => shareOf(begun?.headers ?? {}),
      flow: flowOf(() => [limit, controller]),
      maxBytes: maxBodyBytes,
      onExceeded: () => stop(tooLarge(maxBodyBytes)),
    })
    if (signal.aborted) return fail(signal.reason)
    limit.resume()
    dispatcher.dispatch(request, {
      onRequestStart: (begin) => {
        controller = begin
        if (stopped !== undefined) begin.abort(stopped)
      },
      onResponseStart: (_, status, headers) => {
        if (status >= 200) begun = { status, headers: flattenHeaders(headers) }
      },
      onResponseData: (_, chunk) => received.add(chunk),
      onResponseEnd: () => {
        limit.end()
        const release = received.isLarge ? received.release : undefined
        if (begun !== undefined) resolve({ ...begun, body: memory.join(received.chunks), release })
      },
      onResponseError: (_, fault) => fail(fault),
    })
  })
}

/** Stops an exchange by its signal, or once it has run for its timeout; while it is paused, the time does not count. */
function limitTime(
  { signal, timeoutMs }: Pick<Ending, 'signal' | 'timeoutMs'>,
  stop: (reason: Error) => void,
) {
  let timer: NodeJS.Timeout | undefined
  const abort = () => stop(signal.reason)
  const late = () => stop(new TimeoutError(`no complete response within ${timeoutMs} ms`))
  signal.addEventListener('abort', abort, { once: true })
  return {
    pause: () => clearTimeout(timer),
    resume: () => {
      timer = setTimeout(late, timeoutMs)
    },
    end: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}

/** Pauses and resumes all of these at once. */
function flowOf(parts: () => readonly (Flow | undefined)[]): Flow {
  return {
    pause: () => {
      for (const part of parts()) part?.pause()
    },
    resume: () => {
      for (const part of parts()) part?.resume()
    },
  }
}

/** What a large body may take: its length where it is known, otherwise as much as any. */
function shareOf(headers: Exchange['headers']): number {
  const length = isPacked(headers['content-encoding']) ? Number.NaN : Number(headers['content-length'])
  return Number.isNaN(length) ? MAX_BODY_BYTES : Math.min(length, MAX_BODY_BYTES)
}

function flattenHeaders(raw: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}
