import type { Dispatcher } from 'undici'
import { MAX_BODY_BYTES } from '../core/model/limits.ts'
import type { BufferPool } from './buffer-pool.ts'
import { bodyTooLarge, isCompressed } from './decompress.ts'
import { type FlowControl, receiveBody } from './receive-body.ts'

/** An answer as it came over the wire. */
export type HttpResponse = {
  status: number
  /** Lower-case names; a repeated header's values joined by a comma. */
  headers: Record<string, string>
  /** The whole body, packed; undefined where that of an error did not arrive whole: its status counts all the same. */
  body: Buffer | undefined
  /** Gives back the body's share of the memory for large bodies; undefined where it has none. */
  release: (() => void) | undefined
}

export type SendOptions = {
  signal: AbortSignal
  /** For the whole answer, in milliseconds. */
  timeoutMs: number
  /** What the body comes in. */
  bufferPool: BufferPool
  /** Bytes that the body may have as it is sent. */
  maxBodyBytes: number
}

/** What an exchange is rejected with that took too long. */
export class TimeoutError extends Error {}

/**
 * Sends one request and collects the answer, without the streams that a body of hundreds of kilobytes does not need. Rejects
 * with a TimeoutError, the signal's reason, or the fault of the connection.
 */
export function sendHttpRequest(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, timeoutMs, bufferPool, maxBodyBytes }: SendOptions,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let responseHead: Pick<HttpResponse, 'status' | 'headers'> | undefined
    let controller: Dispatcher.DispatchController | undefined
    let stopReason: Error | undefined
    const fail = (error: unknown) => {
      timeout.end()
      receivedBody.release()
      if (responseHead !== undefined && responseHead.status >= 300)
        resolve({ ...responseHead, body: undefined, release: undefined })
      else reject(error)
    }
    const stop = (reason: Error) => {
      stopReason = reason
      controller?.abort(reason)
      fail(reason)
    }
    const timeout = startTimeout({ signal, timeoutMs }, stop)
    const receivedBody = receiveBody({
      bytesToReserve: () => bytesToReserve(responseHead?.headers ?? {}),
      flow: combineFlows(() => [timeout, controller]),
      maxBytes: maxBodyBytes,
      onExceeded: () => stop(bodyTooLarge(maxBodyBytes)),
    })
    if (signal.aborted) return fail(signal.reason)
    timeout.resume()
    dispatcher.dispatch(request, {
      onRequestStart: (startedController) => {
        controller = startedController
        if (stopReason !== undefined) startedController.abort(stopReason)
      },
      onResponseStart: (_, status, headers) => {
        if (status >= 200) responseHead = { status, headers: flattenHeaders(headers) }
      },
      onResponseData: (_, chunk) => receivedBody.add(chunk),
      onResponseEnd: () => {
        timeout.end()
        const release = receivedBody.isLarge ? receivedBody.release : undefined
        if (responseHead !== undefined)
          resolve({ ...responseHead, body: bufferPool.join(receivedBody.chunks), release })
      },
      onResponseError: (_, error) => fail(error),
    })
  })
}

/** Stops an exchange by its signal, or once it has run for its timeout; while it is paused, the time does not count. */
function startTimeout(
  { signal, timeoutMs }: Pick<SendOptions, 'signal' | 'timeoutMs'>,
  stop: (reason: Error) => void,
) {
  let timer: NodeJS.Timeout | undefined
  const abort = () => stop(signal.reason)
  const onTimeout = () => stop(new TimeoutError(`no complete response within ${timeoutMs} ms`))
  signal.addEventListener('abort', abort, { once: true })
  return {
    pause: () => clearTimeout(timer),
    resume: () => {
      timer = setTimeout(onTimeout, timeoutMs)
    },
    end: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}

/** Pauses and resumes all of these at once. */
function combineFlows(parts: () => readonly (FlowControl | undefined)[]): FlowControl {
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
function bytesToReserve(headers: HttpResponse['headers']): number {
  const length = isCompressed(headers['content-encoding']) ? Number.NaN : Number(headers['content-length'])
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
