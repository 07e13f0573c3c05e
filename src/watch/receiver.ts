import type { IncomingMessage, ServerResponse } from 'node:http'
import { MAX_EVENT_BYTES, SMALL_BODY_BYTES } from '../core/model/limits.ts'
import { parseLimited } from '../core/platform/check-json-size.ts'
import { bindServer, closeServer, createLimitedServer, readBody } from '../core/platform/http-server.ts'
import { createBodyBudget } from '../http/body.ts'

export type ReceiverOptions = {
  host: string
  /** 0 selects a free port. */
  port: number
  /** Last segment of the only path that accepts events. */
  token: string
  /** Whether the body was signed by the service, as far as that can be verified. */
  isGenuine: (received: { body: Buffer; event: object; signature: string | undefined }) => boolean
  /** Called for each genuine event, after the response was sent. */
  onEvent: () => void
  /** Time limit for receiving a complete request, in milliseconds. @default 10000 */
  requestTimeoutMs?: number
  /** Maximum size of a body, in bytes. @default 52428800 (50 MiB) */
  maxBodyBytes?: number
  /** Called for each rejected request. */
  onRejected?: (refusal: { status: number; reason: string }) => void
}

export type Receiver = {
  /** Base URL of the receiver, without path or trailing slash. */
  url: string
  close(): Promise<void>
}

/** Memory budget for concurrently received bodies above `SMALL_BODY_BYTES`. Further requests wait. */
const bodyBudget = createBodyBudget(2 * MAX_EVENT_BYTES)

const LISTEN_FIX = 'Set --listen to an address of this machine and a free port; port 0 selects one.'

/**
 * Starts an HTTP server that receives events. It responds 200 to a genuine event before processing it, 404 to other
 * paths, 405 to other methods, 413 to oversized bodies, 400 to bodies that are not a JSON object and 401 to invalid
 * signatures. Large bodies share a memory budget of two bodies of the maximum size.
 *
 * @throws ExportError USAGE if it cannot listen on the address and port
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { host, port, requestTimeoutMs = 10_000 } = options
  const server = createLimitedServer((request, response) => void handle(request, { response, options }), {
    requestTimeoutMs,
  })
  const { url } = await bindServer(server, { host, port }, LISTEN_FIX)
  return { url, close: () => closeServer(server) }
}

type HandlerContext = { response: ServerResponse; options: ReceiverOptions }

async function handle(request: IncomingMessage, { response, options }: HandlerContext): Promise<void> {
  const result = await validateRequest(request, options).catch(() => NOT_JSON)
  if (result === undefined) return void response.destroy()
  const { status } = result
  // The unread rest of a body would otherwise be parsed as the next request.
  const connectionHeader = request.complete ? {} : { connection: 'close' }
  response.writeHead(status, {
    ...connectionHeader,
    ...(status === 405 ? { allow: 'POST' } : {}),
    'content-length': 0,
  })
  response.end()
  if (status === 200) options.onEvent()
  else options.onRejected?.(result)
}

/** The status of the response, and the reason if it is not 200. */
type ValidationResult = { status: number; reason: string }

const NOT_JSON = { status: 400, reason: 'the body is not a JSON object' }

/** Determines the response; undefined if the body ended prematurely. */
async function validateRequest(
  request: IncomingMessage,
  options: ReceiverOptions,
): Promise<ValidationResult | undefined> {
  const { token, maxBodyBytes = MAX_EVENT_BYTES } = options
  const [path = ''] = (request.url ?? '').split('?')
  if (!path.endsWith(`/${token}`)) return { status: 404, reason: 'the path does not end in the secret token' }
  if (request.method !== 'POST')
    return { status: 405, reason: `the method is ${request.method}, expected POST` }
  const tooLong = { status: 413, reason: `the body has more than ${maxBodyBytes} bytes` }
  const length = Number(request.headers['content-length'] ?? maxBodyBytes)
  if (length > maxBodyBytes) return tooLong
  const release = await reserveMemory(request, length)
  try {
    if (request.destroyed) return undefined
    const body = await readBody(request, maxBodyBytes)
    if (body === undefined) return undefined
    return body.length > maxBodyBytes ? tooLong : validateBody(body, request, options)
  } finally {
    release()
  }
}

/** Waits until the memory budget has `length` bytes. Resolves with a function that releases them. */
function reserveMemory(request: IncomingMessage, length: number): Promise<() => void> | (() => void) {
  if (length <= SMALL_BODY_BYTES) return () => undefined
  return new Promise((resolve) => {
    const grant = () => queueMicrotask(() => resolve(release))
    const release = bodyBudget.reserve(length, grant)
    // If the client disconnects, stop waiting. The caller then finds the request destroyed.
    request.once('close', grant)
  })
}

function validateBody(
  body: Buffer,
  request: IncomingMessage,
  { isGenuine }: ReceiverOptions,
): ValidationResult {
  // Anybody may send requests, so every body is scanned.
  const event = parseLimited(body, (text) => JSON.parse(text.toString('utf8')), 0)
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return NOT_JSON
  const header = request.headers['x-signature']
  const signature = typeof header === 'string' ? header : undefined
  if (isGenuine({ body, event, signature })) return { status: 200, reason: '' }
  const reason =
    signature === undefined ? 'the signature is missing' : 'the signature does not match the secret'
  return { status: 401, reason }
}
