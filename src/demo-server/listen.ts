import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { bindServer, closeServer, createLimitedServer, readBody } from '../core/platform/http-server.ts'
import type { DataService } from './data-service.ts'
import { errorResponse, HttpError } from './http-error.ts'
import { MAX_BODY_BYTES } from './route.ts'

export type ListenOptions = {
  /** Host name or address to listen on. @default 127.0.0.1 */
  host?: string | undefined
  /** Port to listen on; 0 for any free one. @default 0 */
  port?: number | undefined
  /** Time within which a request and its body must arrive, in milliseconds. @default 30000 */
  requestTimeoutMs?: number
}

export type ListeningService = {
  /** Without a trailing slash. */
  readonly url: string
  readonly port: number
  /** Closes the service and all connections. Repeated calls have no further effect. */
  close(): Promise<void>
}

/**
 * Serves a data service over HTTP with keep-alive.
 *
 * @throws `USAGE` if the host or port is not available
 */
export async function listen(
  service: DataService,
  { host = '127.0.0.1', port = 0, ...limits }: ListenOptions = {},
): Promise<ListeningService> {
  const server = createLimitedServer(
    (request, response) => void handleHttpRequest(service, request, response),
    { ...limits, keepAliveMs: KEEP_ALIVE_MS },
  )
  server.on('clientError', (_error, socket) => rejectMalformedRequest(socket))
  const bound = await bindServer(server, { host, port }, LISTEN_FIX)
  return {
    ...bound,
    close() {
      service.close?.()
      return closeServer(server)
    },
  }
}

/** Long, because a client that reuses a connection at the moment of its idle timeout gets a connection reset. */
const KEEP_ALIVE_MS = 60_000

async function handleHttpRequest(
  service: DataService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const received = await readBody(request, MAX_BODY_BYTES)
  if (received === undefined) return void response.destroy()
  const { method = 'GET', url = '/' } = request
  const headers = Object.entries(request.headers).map(([name, value]) => [name, value?.toString()])
  const answer = async () =>
    service.handle({ method, url, headers: Object.fromEntries(headers), body: received.toString('utf8') })
  /** The embedded service never throws, but a service that wraps it may. */
  const failed = () => errorResponse(new HttpError(500, 'The service failed to answer this request.'))
  const { status, headers: serviceHeaders, body } = await answer().catch(failed)
  response.writeHead(status, {
    ...serviceHeaders,
    'content-length': Buffer.byteLength(body),
    ...(request.readableEnded ? {} : { connection: 'close' }),
  })
  response.end(body)
}

/** Answers input that is not HTTP, or whose headers are too long, with an error body as well. */
function rejectMalformedRequest(socket: Duplex): void {
  if (!socket.writable) return void socket.destroy()
  const { body } = errorResponse(
    new HttpError(400, 'This is not a valid HTTP/1.1 request, or its headers are too long.'),
  )
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    'connection: close',
  ]
  socket.end([...head, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'))
}

const LISTEN_FIX = 'Choose another --port, or --port 0 for any free one, and a --host of this machine.'
