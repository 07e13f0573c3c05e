import type { ServiceRequest } from './data-service.ts'
import { HttpError } from './http-error.ts'
import type { JsonObject } from './json.ts'
import type { Call } from './operation.ts'
import { OPERATIONS, type OperationRow } from './operations.ts'

/** Maximum size of a request body, in bytes of UTF-8. */
export const MAX_BODY_BYTES = 1_048_576

/** Whether a request is for the index page. */
export function isForIndex({ method, url }: ServiceRequest): boolean {
  return method === 'GET' && pathOf(url) === '/'
}

/**
 * Finds the operation of a request of the API key with this index.
 *
 * @throws `HttpError` 404 for an unknown route, 400 for a malformed path
 */
export function readCall(request: ServiceRequest, owner: number): { operation: OperationRow; call: Call } {
  const { method, url } = request
  const path = pathOf(url)
  const normalized = normalizePath(url, path)
  for (const { operation, pattern } of ROUTES) {
    const match = operation.method === method ? pattern.exec(normalized) : null
    if (match === null) continue
    const values = Object.entries(match.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)])
    const query = new URLSearchParams(url.slice(path.length + 1))
    const call = {
      path: { ...NO_VALUES, ...Object.fromEntries(values) },
      query,
      owner,
      body: () => readJsonBody(request),
    }
    return { operation, call }
  }
  throw new HttpError(404, `${method} ${path} is not served here: GET / lists the operations.`)
}

const NO_VALUES: Call['path'] = {
  chainId: '',
  address: '',
  blockId: '',
  txHash: '',
  tokenId: '',
  id: '',
  network: '',
  blockchainId: '',
}

/** A name in braces matches any non-empty text of a segment. */
const ROUTES = Object.values(OPERATIONS).map((operation) => {
  const literal = operation.path.split('/').map(encodeURIComponent).join('/')
  return { operation, pattern: new RegExp(`^${literal.replace(/%7B(\w+)%7D/g, '(?<$1>[^/]+)')}$`) }
})

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/** Encodes the segments of a path in one way. They are decoded one by one, so an encoded slash remains part of its segment. */
function normalizePath(url: string, path: string): string {
  try {
    decodeURIComponent(url)
    return path
      .split('/')
      .map((segment) => encodeURIComponent(decodeURIComponent(segment)))
      .join('/')
  } catch {
    throw new HttpError(
      400,
      'The URL is not well formed: expected UTF-8, with every % followed by two hex digits.',
    )
  }
}

function readJsonBody({ headers, body = '' }: ServiceRequest): JsonObject {
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) {
    throw new HttpError(413, `The body is longer than ${MAX_BODY_BYTES} bytes.`)
  }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new HttpError(400, 'The body must be JSON: expected the header content-type: application/json.')
  }
  const value = parseJson(body)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new HttpError(400, 'The body must be a JSON object.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpError(400, 'The body is not well-formed JSON.')
  }
}
