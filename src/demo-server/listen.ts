import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { bindServer, closeServer, createLimitedServer, readBody } from '../core/platform/http-server.ts'
import type { DataService, ServiceResponse } from './data-service.ts'
import { errorResponse, HttpError } from './http-error.ts'
import { MAX_BODY_BYTES } from './read-json-body.ts'

export type ListenOptions = {
  /** Name or address to listen on. @default 127.0.0.1 */
  host?: string | undefined
  /** 0: any free one. @default 0 */
  port?: number | undefined
  /** A request, its body included, has to arrive within this time, in milliseconds. @default 30000 */
  requestTimeoutMs?: number
}

export type ListeningService = {
  /** Without a slash at its end. */
  readonly url: string
  readonly port: number
  /** Closes the service and ends every connection, then resolves; a second call does no harm. */
  close(): Promise<void>
}

/** Serves a data service over HTTP with keep-alive. Fails with `USAGE` where the port cannot be had. */
export async function listen(
  service: DataService,
  { host = '127.0.0.1', port = 0, ...limits }: ListenOptions = {},
): Promise<ListeningService> {
  const server = createLimitedServer(
    (request, response) => void handleHttpRequest(service, { request, response }),
    {
      ...limits,
      keepAliveMs: KEEP_ALIVE_MS,
    },
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

/** Long, for a client that uses a connection again just as we end it sees a reset. */
const KEEP_ALIVE_MS = 60_000

type HandlerContext = { request: IncomingMessage; response: ServerResponse }

async function handleHttpRequest(service: DataService, { request, response }: HandlerContext): Promise<void> {
  const received = await readBody(request, MAX_BODY_BYTES)
  if (received === undefined) return void response.destroy()
  const body = received.toString('utf8')
  const { method = 'GET', url = '/' } = request
  const serviceResponse = await handleSafely(service, { method, url, headers: flattenHeaders(request), body })
  const connectionHeader = request.readableEnded ? {} : { connection: 'close' }
  const length = { 'content-length': Buffer.byteLength(serviceResponse.body) }
  response.writeHead(serviceResponse.status, { ...serviceResponse.headers, ...length, ...connectionHeader })
  response.end(serviceResponse.body)
}

/** Our own service never throws; one that wraps it may. */
async function handleSafely(
  service: DataService,
  request: Parameters<DataService['handle']>[0],
): Promise<ServiceResponse> {
  try {
    return await service.handle(request)
  } catch {
    return errorResponse(new HttpError(500, 'The service failed to answer this request.'))
  }
}

function flattenHeaders({ headers }: IncomingMessage): Record<string, string | undefined> {
  const flat = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ])
  return Object.fromEntries(flat)
}

/** What is no HTTP at all, or too long, gets the error body too. */
function rejectMalformedRequest(socket: Duplex): void {
  if (!socket.writable) return void socket.destroy()
  const { body } = errorResponse(new HttpError(400, 'This is not an HTTP/1.1 request that can be read here.'))
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    'connection: close',
  ]
  socket.end([...head, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'))
}

const LISTEN_FIX = 'Choose another --port, or --port 0 for any free one, and a --host of this machine.'
