import { Pool } from 'undici'
import { ExportError } from '../core/errors.ts'
import { secretHider } from '../core/secrets.ts'
import { type BodyMemory, openBodyMemory } from './body-memory.ts'
import { faultWords } from './connection-fault.ts'
import { exchange, TimeoutError } from './exchange.ts'
import { tooLarge, unpack } from './unpack.ts'

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
  /** Bytes that an answer's body may have, packed or unpacked. @default 268435456 (256 MiB) */
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

const MAX_BODY_BYTES = 256 * 2 ** 20

/** A keep-alive HTTP client of one service. Redirects are not followed: the key goes to one host only. */
export function createClient(options: ClientOptions): Client {
  const { apiKey, apiKeyHeader, connections, timeoutMs, maxBodyBytes = MAX_BODY_BYTES } = options
  const { origin, pathname } = new URL(options.baseUrl)
  const pool = new Pool(origin, {
    connections,
    keepAliveTimeout: 30_000,
    connect: { timeout: timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxBodyBytes,
  })
  const headers: Record<string, string> = { accept: 'application/json', 'accept-encoding': 'gzip, br' }
  if (apiKey !== undefined) headers[apiKeyHeader] = apiKey
  const line: Line = {
    pool,
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
    close: () => pool.destroy(),
  }
}

/** What every request of a client shares. */
type Line = {
  pool: Pool
  baseUrl: string
  /** What the service's paths begin with. */
  basePath: string
  headers: Record<string, string>
  timeoutMs: number
  maxBodyBytes: number
  memory: BodyMemory
}

async function send(line: Line, request: ClientRequest, signal: AbortSignal): Promise<Answer> {
  const { pool, basePath, timeoutMs, memory } = line
  const { method, pathAndQuery } = request
  const sent = { method, path: basePath + pathAndQuery, ...contentOf(line, request) }
  try {
    const { status, headers, body } = await exchange(pool, sent, { signal, timeoutMs, memory })
    return { status, headers, body: body ? await unpackBody(body, { status, headers, line }) : EMPTY }
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

type Packing = Pick<Answer, 'status' | 'headers'> & { line: Line }

async function unpackBody(bytes: Buffer, { status, headers, line }: Packing): Promise<Buffer> {
  try {
    const maxBytes = line.maxBodyBytes
    const body = await unpack({ bytes, encoding: headers['content-encoding'], maxBytes })
    if (body !== bytes) line.memory.giveBack(bytes)
    return body
  } catch (cause) {
    if (status >= 300) return EMPTY
    throw cause
  }
}

function faultOf(cause: unknown, { baseUrl, maxBodyBytes }: Line): ExportError {
  if (cause instanceof ExportError) return cause
  if (cause instanceof TimeoutError)
    return new ExportError('SERVICE_UNAVAILABLE', cause.message, { mayHaveActed: true, fix: TIMEOUT_FIX })
  const codes = codesOf(cause)
  if (codes.includes('UND_ERR_RES_EXCEEDED_MAX_SIZE')) return tooLarge(maxBodyBytes)
  const unsent = codes.some((code) => UNSENT.test(code))
  const { what, ...words } = faultWords(codes, baseUrl)
  return new ExportError('SERVICE_UNAVAILABLE', what, { mayHaveActed: !unsent, ...words })
}

const TIMEOUT_FIX =
  'Run the same command again: it resumes; where the service is slow, raise service.timeout.'

/** The fault's codes and nothing else: messages of foreign errors may hold addresses with queries. */
function codesOf(cause: unknown): string[] {
  const chain: string[] = []
  for (let at = cause; at instanceof Error && chain.length < 3; at = at.cause) {
    chain.push((at as NodeJS.ErrnoException).code ?? at.name)
  }
  return [...new Set(chain)]
}

/** Codes of faults before there was a connection that a request could leave on. */
const UNSENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_(CONNECT_TIMEOUT|INVALID_ARG)|(ERR_TLS|ERR_SSL|CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)_\w+)$/
