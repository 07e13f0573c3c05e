import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ExportError } from '../model/errors.ts'

/** Address to listen on: a host name or address of this machine, and a port; 0 selects a free one. */
export type Endpoint = { host: string; port: number }

/** Address that a server listens on; `url` has no trailing slash. */
export type BoundServer = { url: string; port: number }

export type ServerLimits = {
  /** Time within which a request must arrive, including its body, in milliseconds. @default 30000 */
  requestTimeoutMs?: number
  /** Time after which an idle connection is closed, in milliseconds. @default 30000 */
  keepAliveMs?: number
}

const REQUEST_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 30_000
/** Maximum number of open connections. */
const MAX_CONNECTIONS = 256

/**
 * Creates a server that clients cannot block by sending nothing: requests that do not arrive in time are
 * closed, and if there are too many connections, the longest idle one is closed for a new one.
 */
export function createLimitedServer(listener: RequestListener, limits: ServerLimits = {}): Server {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS, keepAliveMs = KEEP_ALIVE_MS } = limits
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
    },
    listener,
  )
  /** Connections without a current request, the longest idle first. */
  const idle = new Set<Socket>()
  let open = 0
  server.on('connection', (socket) => {
    open += 1
    idle.add(socket)
    socket.once('close', () => {
      open -= 1
      idle.delete(socket)
    })
    const [oldest = socket] = idle
    if (open > MAX_CONNECTIONS) oldest.destroy()
  })
  server.prependListener('request', ({ socket }, response) => {
    idle.delete(socket)
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket)
    })
  })
  return server
}

/** Starts listening. Throws USAGE with this fix if the host or port is not available. */
export async function bindServer(
  server: Server,
  { host, port }: Endpoint,
  fix: string,
): Promise<BoundServer> {
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new ExportError('USAGE', `a port is a number from 0 to 65535, not ${port}`, { fix })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.code ?? cause.message
      reject(new ExportError('USAGE', `cannot listen on ${host}:${port}: ${reason}`, { cause, fix }))
    })
    server.listen({ host, port }, resolve)
  })
  const bound = server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`, port: bound.port }
}

/** Closes all connections and resolves once the port is free. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/**
 * Reads a request body. Stops once it exceeds `maxBytes`, so that a result longer than `maxBytes` means that
 * the body is too long. Undefined if the sender disconnects.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve) => {
    const done = () => resolve(Buffer.concat(chunks))
    request.on('data', (chunk: Buffer) => {
      if (bytes > maxBytes) return
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxBytes) done()
    })
    request.on('end', done)
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
}
