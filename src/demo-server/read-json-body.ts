import type { ServiceRequest } from './data-service.ts'
import { Refusal } from './http-error.ts'
import type { JsonObject } from './json.ts'

/** The longest body that is read, in bytes of UTF-8. */
export const BODY_LIMIT_BYTES = 1_048_576

/** Reads a request's body; refuses with 400 what is no JSON object or not said to be JSON, with 413 what is too long. */
export function readJsonBody({ headers, body = '' }: ServiceRequest): JsonObject {
  if (Buffer.byteLength(body) > BODY_LIMIT_BYTES) {
    throw new Refusal(413, `The body is longer than ${BODY_LIMIT_BYTES} bytes.`)
  }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new Refusal(400, 'The body must be JSON: expected the header content-type: application/json.')
  }
  const value = parse(body)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new Refusal(400, 'The body must be a JSON object.')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(400, 'The body is not well-formed JSON.')
  }
}
