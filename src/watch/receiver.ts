import type { IncomingMessage, ServerResponse } from 'node:http'
import { MAX_EVENT_BYTES, SMALL_BODY_BYTES } from '../core/model/limits.ts'
import { checkJsonSize } from '../core/platform/check-json-size.ts'
import { bindServer, closeServer, createLimitedServer, readBody } from '../core/platform/http-server.ts'
import { createBodyBudget } from '../http/body-budget.ts'

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
  /** Bytes that a body may have. @default 52428800 (50 MiB) */
  maxBodyBytes?: number
  /** Told of each request that is refused: its status, and why. */
  onRejected?: (refusal: { status: number; reason: string }) => void
}

export type Receiver = {
  /** Where it listens, without path and slash at the end. */
  url: string
  close(): Promise<void>
}

/** Memory for all bodies above `SMALL_BODY_BYTES` that are received at once; further ones wait. */
const bodyBudget = createBodyBudget(2 * MAX_EVENT_BYTES)

const LISTEN_FIX = 'Name an address of this machine and a free port with --listen; port 0 takes any.'

/**
 * Receives events over HTTP: 200 at once for a genuine one, whatever is done about it later; 404 for other paths, 405
 * for other methods, 413, 400 and 401 for bodies that are too long, no JSON object or not signed. Throws USAGE where
 * the port cannot be had. Large bodies wait for each other, so that no more than two of the largest are in memory.
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
  // What is left of a body that is not read would be taken for the next request.
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

/** The status of a response, and why it is not 200. */
type ValidationResult = { status: number; reason: string }

const NOT_JSON = { status: 400, reason: 'the body is not a JSON object' }

/** What is to be answered; undefined where the body broke off. */
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

/** Waits for memory for a body of so many bytes; resolves with what gives it back. */
function reserveMemory(request: IncomingMessage, length: number): Promise<() => void> | (() => void) {
  if (length <= SMALL_BODY_BYTES) return () => undefined
  return new Promise((resolve) => {
    const grant = () => queueMicrotask(() => resolve(release))
    const release = bodyBudget.reserve(length, grant)
    // A sender that gives up waits no longer; what reads its body then sees that.
    request.once('close', grant)
  })
}

function validateBody(
  body: Buffer,
  request: IncomingMessage,
  { isGenuine }: ReceiverOptions,
): ValidationResult {
  checkJsonSize(body)
  const event: unknown = JSON.parse(body.toString('utf8'))
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return NOT_JSON
  const header = request.headers['x-signature']
  const signature = typeof header === 'string' ? header : undefined
  if (isGenuine({ body, event, signature })) return { status: 200, reason: '' }
  const reason =
    signature === undefined ? 'the signature is missing' : 'the signature does not match the secret'
  return { status: 401, reason }
}
