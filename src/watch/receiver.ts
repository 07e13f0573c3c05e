import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { bindServer, closeServer, readBody } from '../core/http-server.ts'

export type ReceiverOptions = {
  host: string
  /** 0: any free one. */
  port: number
  /** Last segment of the only path that takes events. */
  token: string
  /** Whether the body was sent by the service, as far as that can be said. */
  isGenuine: (received: { body: Buffer; event: object; signature: string | undefined }) => boolean
  /** Told of each genuine event, after it was answered. */
  onEvent: () => void
  /** A request has to be whole within this time, in milliseconds. @default 10000 */
  requestTimeoutMs?: number
  /** Bytes that a body may have. @default 1000000 */
  maxBodyBytes?: number
}

export type Receiver = {
  /** Where it listens, without path and slash at the end. */
  url: string
  close(): Promise<void>
}

const CONNECTIONS = 256
const FIX = 'Name an address of this machine and a free port with --listen; port 0 takes any.'

/**
 * Receives events over HTTP: 200 at once for a genuine one, whatever is done about it later; 404 for other paths, 405
 * for other methods, 413, 400 and 401 for bodies that are too long, no JSON object or not signed. Throws USAGE where
 * the port cannot be had.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { host, port, requestTimeoutMs = 10_000 } = options
  const server = createServer({
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    keepAliveTimeout: 30_000,
    connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
  })
  server.maxConnections = CONNECTIONS
  server.on('request', (request, response) => void handle(request, { response, options }))
  const { url } = await bindServer(server, { host, port }, FIX)
  return { url, close: () => closeServer(server) }
}

type Exchange = { response: ServerResponse; options: ReceiverOptions }

async function handle(request: IncomingMessage, { response, options }: Exchange): Promise<void> {
  const status = await judge(request, options).catch(() => 400)
  if (status === undefined) return void response.destroy()
  // What is left of a body that is not read would be taken for the next request.
  const cut = request.complete ? {} : { connection: 'close' }
  response.writeHead(status, { ...cut, ...(status === 405 ? { allow: 'POST' } : {}), 'content-length': 0 })
  response.end()
  if (status === 200) options.onEvent()
}

/** The status of the answer; undefined where the body broke off. */
async function judge(request: IncomingMessage, options: ReceiverOptions): Promise<number | undefined> {
  const { token, isGenuine, maxBodyBytes = 1_000_000 } = options
  const [path = ''] = (request.url ?? '').split('?')
  if (!path.endsWith(`/${token}`)) return 404
  if (request.method !== 'POST') return 405
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return 413
  const body = await readBody(request, maxBodyBytes)
  if (body === undefined) return undefined
  if (body.length > maxBodyBytes) return 413
  const event: unknown = JSON.parse(body.toString('utf8'))
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return 400
  const signature = request.headers['x-signature']
  const genuine = isGenuine({ body, event, signature: typeof signature === 'string' ? signature : undefined })
  return genuine ? 200 : 401
}
