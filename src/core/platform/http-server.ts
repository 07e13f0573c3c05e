import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ExportError } from '../model/errors.ts'

/** Where a server listens: a name or address of this machine, and a port; 0 takes any free one. */
export type Endpoint = { host: string; port: number }

/** Where a server came to listen; `url` has no slash at its end. */
export type BoundServer = { url: string; port: number }

export type ServerLimits = {
  /** A request, its body included, has to arrive within this time, in milliseconds. @default 30000 */
  requestTimeoutMs?: number
  /** A connection without requests is closed after so long, in milliseconds. @default 30000 */
  keepAliveMs?: number
}

const REQUEST_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 30_000
/** Connections kept at once. */
const MAX_CONNECTIONS = 256

/**
 * A server that nobody can keep busy by sending nothing: requests that do not arrive in time are closed, and where there are
 * too many connections, the one that has been idle longest makes room for a new one.
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
  /** Connections without a request that has begun, the one that is idle longest first. */
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

/** Makes a server listen. Throws USAGE with this fix where the host or port cannot be had. */
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

/** Ends every connection and resolves when the port is free again. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/**
 * Reads a request's body up to the first byte after `most`, so that a longer one shows as longer; undefined where the
 * sender breaks off.
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
