import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { Agent, type Dispatcher, request } from 'undici'
import { ExportError } from '../errors.ts'

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
}

export type Answer = {
  status: number
  /** Lower-case names; a repeated header's values joined by a comma. */
  headers: Record<string, string>
  /** The whole body, unpacked. */
  body: Buffer
}

export type Client = {
  /** Asks once. Throws SERVICE_UNAVAILABLE for anything that kept an answer from arriving whole. */
  get(pathAndQuery: string, signal: AbortSignal): Promise<Answer>
  /** The text with the key blotted out: a service may repeat it in its errors. */
  hideKey(text: string): string
  close(): Promise<void>
}

/** A keep-alive HTTP client of one service. Redirects are not followed: the key goes to one host only. */
export function createClient(options: ClientOptions): Client {
  const agent = new Agent({
    connections: options.connections,
    keepAliveTimeout: 30_000,
    connect: { timeout: options.timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const headers: Record<string, string> = { accept: 'application/json', 'accept-encoding': 'gzip, br' }
  if (options.apiKey !== undefined) headers[options.apiKeyHeader] = options.apiKey
  return {
    get: (pathAndQuery, signal) =>
      ask({ url: options.baseUrl + pathAndQuery, agent, headers, signal, ...options }),
    hideKey: (text) => (options.apiKey ? text.replaceAll(options.apiKey, '…') : text),
    close: () => agent.destroy(),
  }
}

type Ask = {
  url: string
  agent: Agent
  headers: Record<string, string>
  signal: AbortSignal
  timeoutMs: number
}

async function ask({ url, agent, headers, signal, timeoutMs }: Ask): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await request(url, {
      dispatcher: agent,
      headers,
      signal: AbortSignal.any([signal, timeout]),
    })
    const plain = flattenHeaders(answer.headers)
    const packed = Buffer.from(await answer.body.arrayBuffer())
    return {
      status: answer.statusCode,
      headers: plain,
      body: await unpack(packed, plain['content-encoding']),
    }
  } catch (cause) {
    signal.throwIfAborted()
    if (timeout.aborted)
      throw new ExportError('SERVICE_UNAVAILABLE', `no whole answer within ${timeoutMs} ms`)
    throw new ExportError('SERVICE_UNAVAILABLE', describeFault(cause))
  }
}

function flattenHeaders(raw: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}

const UNPACK: Record<string, (packed: Buffer) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
}

async function unpack(packed: Buffer, encoding = ''): Promise<Buffer> {
  const unpacker = UNPACK[encoding.trim().toLowerCase()]
  return unpacker === undefined ? packed : unpacker(packed)
}

/** The fault's code and nothing else: messages of foreign errors may hold addresses with queries. */
function describeFault(cause: unknown): string {
  const chain: string[] = []
  for (let at = cause; at instanceof Error && chain.length < 3; at = at.cause) {
    chain.push((at as NodeJS.ErrnoException).code ?? at.name)
  }
  return `the connection failed (${[...new Set(chain)].join(', ') || 'unknown fault'})`
}
