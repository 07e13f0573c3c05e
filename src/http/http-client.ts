import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { ExportError } from '../core/model/errors.ts'
import { HUGE_BODY_BYTES, MAX_BODY_BYTES, SMALL_BODY_BYTES } from '../core/model/limits.ts'
import { requireEncryptedKey } from '../core/model/service-key.ts'
import { USER_AGENT } from '../core/model/version.ts'
import { collectGarbage } from '../core/platform/collect-garbage.ts'
import { proxyFor, proxySettings } from '../core/platform/proxy.ts'
import { createRedactor } from '../core/platform/secrets.ts'
import {
  type BufferPool,
  bodyTooLarge,
  createBufferPool,
  decompress,
  decompressSmall,
  isCompressed,
  largeBodyBudget,
} from './body.ts'
import { describeConnectionError, describeRoute } from './connection-error.ts'
import { sendHttpRequest, TimeoutError } from './send-http-request.ts'

export type ClientOptions = {
  /** Base URL of the service, without a trailing slash. */
  baseUrl: string
  apiKey: string | undefined
  /** Name of the header that carries the API key. */
  apiKeyHeader: string
  /** Name of the query parameter that carries the API key instead of the header. */
  apiKeyParameter?: string | undefined
  /** Timeout of one request including its body, in milliseconds. */
  timeoutMs: number
  /** Maximum number of open connections. */
  connections: number
  /** Allow the key to be sent unencrypted, over HTTP, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Maximum size of a response body, compressed or decompressed. @default 33554432 (32 MiB) */
  maxBodyBytes?: number
}

export type ClientRequest = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path below the base URL and query, encoded, with a leading slash. */
  pathAndQuery: string
  /** Sent as JSON. @default no body */
  body?: unknown
}

export type ApiResponse = {
  status: number
  /** Lower-case names; the values of a repeated header are joined by commas. */
  headers: Record<string, string>
  /**
   * The decompressed body; empty if that of an error status could not be read, which is no reason to fail.
   */
  body: Buffer
  /** Must be called after a large body is processed: others wait for its share of the memory budget. */
  release?: (() => void) | undefined
}

export type Client = {
  /**
   * Sends one request, without retries. Throws SERVICE_UNAVAILABLE if no complete response arrives, with
   * `mayHaveActed` unless the request was certainly not sent, and PAGE_MALFORMED if a successful body is too
   * large or cannot be decompressed.
   */
  send(request: ClientRequest, signal: AbortSignal): Promise<ApiResponse>
  /** Returns a body's buffer to the pool for later responses. The caller must not use the body afterwards. */
  recycleBody(body: Buffer): void
  /** Base URL of the service. */
  readonly baseUrl: string
  /** Where requests carry the API key; undefined without one. */
  readonly keyIn: 'header' | 'query' | undefined
  /** Redacts the key in a text, in any encoding: a service may repeat it in its error messages. */
  redactKey(text: string): string
  close(): Promise<void>
}

/**
 * Creates a keep-alive HTTP client for one API. It does not follow redirects, so that the key is sent to one
 * host only. Throws USAGE if the key would be sent unencrypted.
 */
export function createClient(options: ClientOptions): Client {
  const { apiKey, apiKeyHeader, apiKeyParameter, timeoutMs, maxBodyBytes = MAX_BODY_BYTES } = options
  requireEncryptedKey(options)
  const { origin, pathname } = new URL(options.baseUrl)
  const dispatcher = openDispatcher({ ...options, maxBodyBytes })
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'gzip, br',
    'user-agent': USER_AGENT,
  }
  const isInQuery = apiKeyParameter !== undefined && apiKey !== undefined
  if (apiKey !== undefined && !isInQuery) headers[apiKeyHeader] = apiKey
  const context: ClientContext = {
    dispatcher,
    origin,
    basePath: pathname.replace(/\/$/, ''),
    headers,
    keyQuery: isInQuery ? `${apiKeyParameter}=${encodeURIComponent(apiKey)}` : undefined,
    timeoutMs,
    maxBodyBytes,
    baseUrl: options.baseUrl,
    bufferPool: createBufferPool(),
  }
  return {
    baseUrl: options.baseUrl,
    keyIn: apiKey === undefined ? undefined : isInQuery ? 'query' : 'header',
    send: (request, signal) => send(context, request, signal),
    recycleBody: context.bufferPool.release,
    redactKey: createRedactor(apiKey === undefined ? [] : [apiKey]),
    close: () => dispatcher.destroy(),
  }
}

/** Opens the connection pool to the service, or to the proxy that the environment defines for it. */
function openDispatcher({ baseUrl, connections, timeoutMs, maxBodyBytes }: ClientOptions): Dispatcher {
  const { origin } = new URL(baseUrl)
  const limits = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: maxBodyBytes ?? MAX_BODY_BYTES }
  const shared = { connections, keepAliveTimeout: 30_000, ...limits }
  if (proxyFor(new URL(baseUrl)) === undefined)
    return new Pool(origin, { ...shared, connect: { timeout: timeoutMs } })
  return new EnvHttpProxyAgent({ ...shared, ...proxySettings(), proxyTls: { timeout: timeoutMs } })
}

/** What all requests of a client share. */
type ClientContext = {
  dispatcher: Dispatcher
  origin: string
  baseUrl: string
  /** Path of the base URL. */
  basePath: string
  headers: Record<string, string>
  /** The API key as a query parameter. It is added here, so that no path that is logged contains it. */
  keyQuery: string | undefined
  timeoutMs: number
  maxBodyBytes: number
  bufferPool: BufferPool
}

async function send(
  context: ClientContext,
  request: ClientRequest,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const { dispatcher, origin, timeoutMs, bufferPool, maxBodyBytes } = context
  const { method, pathAndQuery } = request
  const path = pathWithKey(context, pathAndQuery)
  const options = { origin, method, path, ...headersAndBody(context, request) }
  try {
    const { body, ...received } = await sendHttpRequest(dispatcher, options, {
      signal,
      timeoutMs,
      bufferPool,
      maxBodyBytes,
    })
    if (body === undefined) return { ...received, body: EMPTY_BODY }
    return await decompressResponse({ ...received, body }, { context, signal })
  } catch (cause) {
    signal.throwIfAborted()
    throw toConnectionError(cause, context)
  }
}

const EMPTY_BODY = Buffer.alloc(0)

function pathWithKey({ basePath, keyQuery }: ClientContext, pathAndQuery: string): string {
  const path = basePath + pathAndQuery
  return keyQuery === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${keyQuery}`
}

function headersAndBody({ headers }: ClientContext, { body }: ClientRequest) {
  if (body === undefined) return { headers }
  return { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

type UnpackContext = { context: ClientContext; signal: AbortSignal }

/** Decompresses the response's body. If it is large, waits for its share of the memory budget first. */
async function decompressResponse(
  compressed: ApiResponse,
  { context, signal }: UnpackContext,
): Promise<ApiResponse> {
  const { status, headers, body: bytes } = compressed
  let { release } = compressed
  try {
    const encoding = headers['content-encoding']
    const limit = (maxBytes: number) => ({
      bytes,
      encoding,
      maxBytes: Math.min(maxBytes, context.maxBodyBytes),
    })
    const isSmallCompressed = release === undefined && isCompressed(encoding)
    let body = isSmallCompressed ? await decompressSmall(limit(SMALL_BODY_BYTES)) : undefined
    if (body === undefined) {
      if (isSmallCompressed) release = await reserveLargeBody(signal)
      body = await decompress(limit(context.maxBodyBytes))
    }
    if (body !== bytes) context.bufferPool.release(bytes)
    return { status, headers, body: stripByteOrderMark(body), release: releaseAfterGc(body.length, release) }
  } catch (cause) {
    release?.()
    if (status >= 300) return { status, headers, body: EMPTY_BODY }
    throw cause
  }
}

/** After a huge body, releases its share only once its memory has been garbage-collected. */
function releaseAfterGc(bytes: number, release: ApiResponse['release']): ApiResponse['release'] {
  if (release === undefined || bytes <= HUGE_BODY_BYTES) return release
  return () => {
    setImmediate(() => {
      collectGarbage()
      release()
    })
  }
}

/** Reserves memory for a body of unknown size. Rejects with the signal's reason. */
function reserveLargeBody(signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      release()
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    const release = largeBodyBudget.reserve(MAX_BODY_BYTES, () => {
      signal.removeEventListener('abort', abort)
      // A grant may come before `reserve` returns: `release` is assigned by the next microtask.
      queueMicrotask(() => resolve(release))
    })
  })
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Removes the byte order mark that some servers send before JSON. */
function stripByteOrderMark(body: Buffer): Buffer {
  return body.subarray(0, 3).equals(BYTE_ORDER_MARK) ? Buffer.from(body.subarray(3)) : body
}

/** Creates the error for a request whose response did not arrive completely. */
function toConnectionError(
  cause: unknown,
  { baseUrl, maxBodyBytes }: { baseUrl: string; maxBodyBytes: number },
): ExportError {
  if (cause instanceof ExportError) return cause
  if (cause instanceof TimeoutError)
    return new ExportError('SERVICE_UNAVAILABLE', cause.message, {
      cause,
      mayHaveActed: true,
      fix: TIMEOUT_FIX + describeRoute(baseUrl),
    })
  const codes = errorCodesOf(cause)
  if (codes.includes('UND_ERR_RES_EXCEEDED_MAX_SIZE')) return bodyTooLarge(maxBodyBytes)
  const wasNotSent = codes.some((code) => NOT_SENT_CODES.test(code))
  const { message, ...text } = describeConnectionError(codes, baseUrl)
  return new ExportError('SERVICE_UNAVAILABLE', message, { mayHaveActed: !wasNotSent, ...text })
}

const TIMEOUT_FIX = 'Run the same command again: it resumes. If the service is slow, raise service.timeout.'

/**
 * Codes of an error and its causes. Other libraries' messages are not used: they may contain URLs with
 * queries. Only undici's message holds a proxy's response to CONNECT.
 */
function errorCodesOf(cause: unknown): string[] {
  const codes: string[] = []
  for (let current = cause; current instanceof Error && codes.length < 3; current = current.cause) {
    const [, status] = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(current.message) ?? []
    codes.push(
      status === undefined
        ? ((current as NodeJS.ErrnoException).code ?? current.name)
        : `PROXY_STATUS_${status}`,
    )
  }
  return [...new Set(codes)]
}

/** Codes of errors that occur before a connection exists, so the request was not sent. */
const NOT_SENT_CODES =
  /^(PROXY_STATUS_\d+|ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_(CONNECT_TIMEOUT|INVALID_ARG)|(ERR_TLS|ERR_SSL|CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)_\w+)$/
