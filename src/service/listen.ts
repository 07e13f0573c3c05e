import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { ExportError } from '../core/errors.ts'
import { BODY_LIMIT_BYTES } from './body.ts'
import type { DataService, ServiceAnswer } from './data-service.ts'
import { answerRefusal, Refusal } from './refusal.ts'

export type ListenOptions = {
  /** Name or address to listen on. @default 127.0.0.1 */
  host?: string | undefined
  /** 0: any free one. @default 0 */
  port?: number | undefined
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
  { host = '127.0.0.1', port = 0 }: ListenOptions = {},
): Promise<ListeningService> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS })
  server.on('request', (request, response) => void respond(service, { request, response }))
  server.on('clientError', (_error, socket) => refuseGarbage(socket))
  await bind(server, { host, port })
  const bound = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    port: bound.port,
    close() {
      service.close?.()
      return close(server)
    },
  }
}

/** Long, for a client that uses a connection again just as we end it sees a reset. */
const KEEP_ALIVE_MS = 60_000

type Exchange = { request: IncomingMessage; response: ServerResponse }

async function respond(service: DataService, { request, response }: Exchange): Promise<void> {
  const body = await readBody(request)
  if (body === undefined) return void response.destroy()
  const { method = 'GET', url = '/' } = request
  const answer = await askSafely(service, { method, url, headers: flattenHeaders(request), body })
  const cut = request.readableEnded ? {} : { connection: 'close' }
  const length = { 'content-length': Buffer.byteLength(answer.body) }
  response.writeHead(answer.status, { ...answer.headers, ...length, ...cut })
  response.end(answer.body)
}

/** Reads a body, little more of it than the service takes and none of the rest; undefined where it breaks off. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  const state = { bytes: 0 }
  return new Promise((resolve) => {
    const done = () => resolve(Buffer.concat(chunks).toString('utf8'))
    request.on('data', (chunk: Buffer) => {
      if (state.bytes <= BODY_LIMIT_BYTES) chunks.push(chunk)
      state.bytes += chunk.length
      if (state.bytes > BODY_LIMIT_BYTES) done()
    })
    request.on('end', done)
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
}

/** Our own service never throws; one that wraps it may. */
async function askSafely(
  service: DataService,
  request: Parameters<DataService['answer']>[0],
): Promise<ServiceAnswer> {
  try {
    return await service.answer(request)
  } catch {
    return answerRefusal(new Refusal(500, 'The service failed to answer this request.'))
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
function refuseGarbage(socket: Duplex): void {
  if (!socket.writable) return void socket.destroy()
  const { body } = answerRefusal(new Refusal(400, 'This is not an HTTP/1.1 request that can be read here.'))
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    'connection: close',
  ]
  socket.end([...head, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'))
}

const FIX = 'Choose another --port, or --port 0 for any free one, and a --host of this machine.'

function bind(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new ExportError('USAGE', `a port is a number from 0 to 65535, not ${port}`, { fix: FIX })
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code ?? cause.message
      reject(new ExportError('USAGE', `cannot listen on ${host}:${port}: ${why}`, { cause, fix: FIX }))
    })
    server.listen({ host, port }, resolve)
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
