import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { ExportError } from '../core/model/errors.ts'
import { HUGE_BODY_BYTES, MAX_BODY_BYTES, SMALL_BODY_BYTES } from '../core/model/limits.ts'
import { requireEncryptedKey } from '../core/model/service-key.ts'
import { collectGarbage } from '../core/platform/collect-garbage.ts'
import { proxyFor, proxySettings } from '../core/platform/proxy.ts'
import { createRedactor } from '../core/platform/secrets.ts'
import { largeBodyBudget } from './body-budget.ts'
import { type BufferPool, createBufferPool } from './buffer-pool.ts'
import { describeConnectionError, describeRoute } from './connection-error.ts'
import { bodyTooLarge, decompress, decompressSmall, isCompressed } from './decompress.ts'
import { sendHttpRequest, TimeoutError } from './send-http-request.ts'

export type ClientOptions = {
  /** Base address of the service, without a trailing slash. */
  baseUrl: string
  apiKey: string | undefined
  /** Name of the header that carries the key. */
  apiKeyHeader: string
  /** For one request, its body included, in milliseconds. */
  timeoutMs: number
  /** Connections kept open at once. */
  connections: number
  /** Send the key unencrypted, over http, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Bytes that a response's body may have, packed or unpacked. @default 33554432 (32 MiB) */
  maxBodyBytes?: number
}

export type ClientRequest = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the base address, encoded, with the slash it begins with. */
  pathAndQuery: string
  /** Sent as JSON; undefined: no body. */
  body?: unknown
}

export type ApiResponse = {
  status: number
  /** Lower-case names; a repeated header's values joined by a comma. */
  headers: Record<string, string>
  /** The whole body, unpacked; empty where the body of an error could not be read: its status counts all the same. */
  body: Buffer
  /** To be called once the body was read, where it is a large one: others wait for its share of the memory. */
  release?: (() => void) | undefined
}

export type Client = {
  /**
   * Asks once. Throws SERVICE_UNAVAILABLE for anything that kept an answer from arriving whole, with `mayHaveActed`
   * unless the request surely never left, and PAGE_MALFORMED where a good answer's body is too large or does not
   * unpack.
   */
  send(request: ClientRequest, signal: AbortSignal): Promise<ApiResponse>
  /** Takes the memory of an answer's body back, which nobody may use any more: a later answer comes in it. */
  recycleBody(body: Buffer): void
  /** Base address of the service. */
  readonly baseUrl: string
  /** The text with the key blotted out, however it is spelled: a service may repeat it in its errors. */
  redactKey(text: string): string
  close(): Promise<void>
}

/**
 * A keep-alive HTTP client of one service. Redirects are not followed: the key goes to one host only. Throws USAGE where the
 * key would be sent unencrypted.
 */
export function createClient(options: ClientOptions): Client {
  const { apiKey, apiKeyHeader, timeoutMs, maxBodyBytes = MAX_BODY_BYTES } = options
  requireEncryptedKey(options)
  const { origin, pathname } = new URL(options.baseUrl)
  const dispatcher = openDispatcher({ ...options, maxBodyBytes })
  const headers: Record<string, string> = { accept: 'application/json', 'accept-encoding': 'gzip, br' }
  if (apiKey !== undefined) headers[apiKeyHeader] = apiKey
  const context: ClientContext = {
    dispatcher,
    origin,
    basePath: pathname.replace(/\/$/, ''),
    headers,
    timeoutMs,
    maxBodyBytes,
    baseUrl: options.baseUrl,
    bufferPool: createBufferPool(),
  }
  return {
    baseUrl: options.baseUrl,
    send: (request, signal) => send(context, request, signal),
    recycleBody: context.bufferPool.release,
    redactKey: createRedactor(apiKey === undefined ? [] : [apiKey]),
    close: () => dispatcher.destroy(),
  }
}

/** Connections to the service, or to the proxy that the environment names for it. */
function openDispatcher({ baseUrl, connections, timeoutMs, maxBodyBytes }: ClientOptions): Dispatcher {
  const { origin } = new URL(baseUrl)
  const limits = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: maxBodyBytes ?? MAX_BODY_BYTES }
  const shared = { connections, keepAliveTimeout: 30_000, ...limits }
  if (proxyFor(new URL(baseUrl)) === undefined)
    return new Pool(origin, { ...shared, connect: { timeout: timeoutMs } })
  return new EnvHttpProxyAgent({ ...shared, ...proxySettings(), proxyTls: { timeout: timeoutMs } })
}

/** What every request of a client shares. */
type ClientContext = {
  dispatcher: Dispatcher
  origin: string
  baseUrl: string
  /** What the service's paths begin with. */
  basePath: string
  headers: Record<string, string>
  timeoutMs: number
  maxBodyBytes: number
  bufferPool: BufferPool
}

async function send(
  context: ClientContext,
  request: ClientRequest,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const { dispatcher, origin, basePath, timeoutMs, bufferPool, maxBodyBytes } = context
  const { method, pathAndQuery } = request
  const options = { origin, method, path: basePath + pathAndQuery, ...headersAndBody(context, request) }
  try {
    const { body, ...received } = await sendHttpRequest(dispatcher, options, {
      ...{ signal, timeoutMs, bufferPool, maxBodyBytes },
    })
    if (body === undefined) return { ...received, body: EMPTY_BODY }
    return await decompressResponse({ ...received, body }, { context, signal })
  } catch (cause) {
    signal.throwIfAborted()
    throw toConnectionError(cause, context)
  }
}

const EMPTY_BODY = Buffer.alloc(0)

function headersAndBody({ headers }: ClientContext, { body }: ClientRequest) {
  if (body === undefined) return { headers }
  return { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

type UnpackContext = { context: ClientContext; signal: AbortSignal }

/** The response with its body unpacked. A packed body that grows large first waits for its share of the memory. */
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

/** Gives the share back once what the body left in memory is freed. */
function releaseAfterGc(bytes: number, release: ApiResponse['release']): ApiResponse['release'] {
  if (release === undefined || bytes <= HUGE_BODY_BYTES) return release
  return () => {
    setImmediate(() => {
      collectGarbage()
      release()
    })
  }
}

/** Waits for the share of a body whose size is not known yet. Rejects with the signal's reason. */
function reserveLargeBody(signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      release()
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    const release = largeBodyBudget.reserve(MAX_BODY_BYTES, () => {
      signal.removeEventListener('abort', abort)
      // `release` is there once a grant that comes at once has returned.
      queueMicrotask(() => resolve(release))
    })
  })
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** The body without the byte order mark that some servers send before JSON. */
function stripByteOrderMark(body: Buffer): Buffer {
  return body.subarray(0, 3).equals(BYTE_ORDER_MARK) ? Buffer.from(body.subarray(3)) : body
}

function toConnectionError(cause: unknown, { baseUrl, maxBodyBytes }: ClientContext): ExportError {
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

const TIMEOUT_FIX =
  'Run the same command again: it resumes; where the service is slow, raise service.timeout.'

/**
 * The fault's codes and nothing else: messages of foreign errors may hold addresses with queries. What a proxy answers to
 * CONNECT stands in undici's message only.
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

/** Codes of faults before there was a connection that a request could leave on. */
const NOT_SENT_CODES =
  /^(PROXY_STATUS_\d+|ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_(CONNECT_TIMEOUT|INVALID_ARG)|(ERR_TLS|ERR_SSL|CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)_\w+)$/
