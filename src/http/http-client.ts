import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { ExportError } from '../core/model/errors.ts'
import { HUGE_BODY_BYTES, MAX_BODY_BYTES, SMALL_BODY_BYTES } from '../core/model/limits.ts'
import { requireEncryptedKey } from '../core/model/service-key.ts'
import { collectGarbage } from '../core/platform/collect-garbage.ts'
import { proxyFor, proxySettings } from '../core/platform/proxy.ts'
import { secretHider } from '../core/platform/secrets.ts'
import { largeBodies } from './body-budget.ts'
import { type BodyMemory, openBodyMemory } from './buffer-pool.ts'
import { faultWords, routeWords } from './connection-error.ts'
import { isPacked, tooLarge, unpack, unpackSmall } from './decompress.ts'
import { exchange, TimeoutError } from './send-http-request.ts'

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

export type Answer = {
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
  send(request: ClientRequest, signal: AbortSignal): Promise<Answer>
  /** Takes the memory of an answer's body back, which nobody may use any more: a later answer comes in it. */
  reuse(body: Buffer): void
  /** Base address of the service. */
  readonly baseUrl: string
  /** The text with the key blotted out, however it is spelled: a service may repeat it in its errors. */
  hideKey(text: string): string
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
  const line: Line = {
    dispatcher,
    origin,
    basePath: pathname.replace(/\/$/, ''),
    headers,
    timeoutMs,
    maxBodyBytes,
    baseUrl: options.baseUrl,
    memory: openBodyMemory(),
  }
  return {
    baseUrl: options.baseUrl,
    send: (request, signal) => send(line, request, signal),
    reuse: line.memory.giveBack,
    hideKey: secretHider(apiKey === undefined ? [] : [apiKey]),
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
type Line = {
  dispatcher: Dispatcher
  origin: string
  baseUrl: string
  /** What the service's paths begin with. */
  basePath: string
  headers: Record<string, string>
  timeoutMs: number
  maxBodyBytes: number
  memory: BodyMemory
}

async function send(line: Line, request: ClientRequest, signal: AbortSignal): Promise<Answer> {
  const { dispatcher, origin, basePath, timeoutMs, memory, maxBodyBytes } = line
  const { method, pathAndQuery } = request
  const sent = { origin, method, path: basePath + pathAndQuery, ...contentOf(line, request) }
  try {
    const { body, ...received } = await exchange(dispatcher, sent, {
      ...{ signal, timeoutMs, memory, maxBodyBytes },
    })
    if (body === undefined) return { ...received, body: EMPTY }
    return await unpackAnswer({ ...received, body }, { line, signal })
  } catch (cause) {
    signal.throwIfAborted()
    throw faultOf(cause, line)
  }
}

const EMPTY = Buffer.alloc(0)

function contentOf({ headers }: Line, { body }: ClientRequest) {
  if (body === undefined) return { headers }
  return { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

type Receiving = { line: Line; signal: AbortSignal }

/** The response with its body unpacked. A packed body that grows large first waits for its share of the memory. */
async function unpackAnswer(packed: Answer, { line, signal }: Receiving): Promise<Answer> {
  const { status, headers, body: bytes } = packed
  let { release } = packed
  try {
    const encoding = headers['content-encoding']
    const limit = (maxBytes: number) => ({ bytes, encoding, maxBytes: Math.min(maxBytes, line.maxBodyBytes) })
    const isSmall = release === undefined && isPacked(encoding)
    let body = isSmall ? await unpackSmall(limit(SMALL_BODY_BYTES)) : undefined
    if (body === undefined) {
      if (isSmall) release = await reserveLarge(signal)
      body = await unpack(limit(line.maxBodyBytes))
    }
    if (body !== bytes) line.memory.giveBack(bytes)
    return { status, headers, body: withoutMark(body), release: freeing(body.length, release) }
  } catch (cause) {
    release?.()
    if (status >= 300) return { status, headers, body: EMPTY }
    throw cause
  }
}

/** Gives the share back once what the body left in memory is freed. */
function freeing(bytes: number, release: Answer['release']): Answer['release'] {
  if (release === undefined || bytes <= HUGE_BODY_BYTES) return release
  return () => {
    setImmediate(() => {
      collectGarbage()
      release()
    })
  }
}

/** Waits for the share of a body whose size is not known yet. Rejects with the signal's reason. */
function reserveLarge(signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      release()
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    const release = largeBodies.reserve(MAX_BODY_BYTES, () => {
      signal.removeEventListener('abort', abort)
      // `release` is there once a grant that comes at once has returned.
      queueMicrotask(() => resolve(release))
    })
  })
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** The body without the byte order mark that some servers send before JSON. */
function withoutMark(body: Buffer): Buffer {
  return body.subarray(0, 3).equals(BYTE_ORDER_MARK) ? Buffer.from(body.subarray(3)) : body
}

function faultOf(cause: unknown, { baseUrl, maxBodyBytes }: Line): ExportError {
  if (cause instanceof ExportError) return cause
  if (cause instanceof TimeoutError)
    return new ExportError('SERVICE_UNAVAILABLE', cause.message, {
      cause,
      mayHaveActed: true,
      fix: TIMEOUT_FIX + routeWords(baseUrl),
    })
  const codes = codesOf(cause)
  if (codes.includes('UND_ERR_RES_EXCEEDED_MAX_SIZE')) return tooLarge(maxBodyBytes)
  const unsent = codes.some((code) => UNSENT.test(code))
  const { what, ...words } = faultWords(codes, baseUrl)
  return new ExportError('SERVICE_UNAVAILABLE', what, { mayHaveActed: !unsent, ...words })
}

const TIMEOUT_FIX =
  'Run the same command again: it resumes; where the service is slow, raise service.timeout.'

/**
 * The fault's codes and nothing else: messages of foreign errors may hold addresses with queries. What a proxy answers to
 * CONNECT stands in undici's message only.
 */
function codesOf(cause: unknown): string[] {
  const chain: string[] = []
  for (let at = cause; at instanceof Error && chain.length < 3; at = at.cause) {
    const [, status] = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(at.message) ?? []
    chain.push(
      status === undefined ? ((at as NodeJS.ErrnoException).code ?? at.name) : `PROXY_STATUS_${status}`,
    )
  }
  return [...new Set(chain)]
}

/** Codes of faults before there was a connection that a request could leave on. */
const UNSENT =
  /^(PROXY_STATUS_\d+|ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_(CONNECT_TIMEOUT|INVALID_ARG)|(ERR_TLS|ERR_SSL|CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)_\w+)$/
