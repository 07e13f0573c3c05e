import type { ServiceRequest } from './data-service.ts'
import { HttpError } from './http-error.ts'
import type { JsonObject } from './json.ts'

/** Maximum size of a request body, in bytes of UTF-8. */
export const MAX_BODY_BYTES = 1_048_576

/**
 * Parses the body of a request.
 *
 * @throws `HttpError` 400 if it is not a JSON object or the content type is not JSON, 413 if it is too large
 */
export function readJsonBody({ headers, body = '' }: ServiceRequest): JsonObject {
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) {
    throw new HttpError(413, `The body is longer than ${MAX_BODY_BYTES} bytes.`)
  }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new HttpError(400, 'The body must be JSON: expected the header content-type: application/json.')
  }
  const value = parseJsonOrThrow(body)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new HttpError(400, 'The body must be a JSON object.')
}

function parseJsonOrThrow(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpError(400, 'The body is not well-formed JSON.')
  }
}
