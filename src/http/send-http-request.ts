import type { Dispatcher } from 'undici'
import { MAX_BODY_BYTES } from '../core/model/limits.ts'
import { type BufferPool, bodyTooLarge, type FlowControl, isCompressed, receiveBody } from './body.ts'

/** A response as received, not decompressed. */
export type HttpResponse = {
  status: number
  /** Lower-case names; the values of a repeated header are joined by commas. */
  headers: Record<string, string>
  /**
   * The whole body, still compressed. Undefined if the body of an error status did not arrive completely: the
   * status counts nevertheless.
   */
  body: Buffer | undefined
  /** Releases a large body's share of the memory budget; undefined for other bodies. */
  release: (() => void) | undefined
}

export type SendOptions = {
  signal: AbortSignal
  /** Timeout for the complete response, in milliseconds. */
  timeoutMs: number
  /** Provides the buffer of the body. */
  bufferPool: BufferPool
  /** Maximum size of the body before decompression, in bytes. */
  maxBodyBytes: number
}

/** The error of a request that timed out. */
export class TimeoutError extends Error {}

/**
 * Sends one request and collects the response without Node streams, whose overhead counts for bodies of
 * hundreds of kilobytes.
 *
 * @throws TimeoutError, the signal's reason, or the connection's error
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

/**
 * Calls `stop` when the signal is aborted or the request times out. Time during which it is paused does not
 * count.
 */
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

/** Pauses and resumes all parts together. */
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

/**
 * Bytes to reserve for a large body: its content-length if it is known and the body is not compressed,
 * otherwise the maximum.
 */
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
