import type { ServiceResponse } from './data-service.ts'

/** Reason phrases of the statuses in section 7 of the interface, plus 413 and 504, which only HTTP itself defines. */
const REASON_PHRASES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
} as const

/** Rejects a request. It does not leave this folder: the service turns it into an error response (interface 7). */
export class HttpError extends Error {
  readonly status: keyof typeof REASON_PHRASES
  readonly headers: Record<string, string>
  /** One sentence per error. */
  readonly messages: readonly string[]

  constructor(
    status: keyof typeof REASON_PHRASES,
    message: string | readonly string[],
    headers: Record<string, string> = {},
  ) {
    const messages = typeof message === 'string' ? [message] : message
    super(messages.join(' '))
    this.name = 'HttpError'
    this.status = status
    this.messages = messages
    this.headers = headers
  }
}

/** Builds the error response: `{message, statusCode, error}`. `message` is an array if there are several errors. */
export function errorResponse({ status, messages, headers }: HttpError): ServiceResponse {
  const message = messages.length === 1 ? messages[0] : messages
  const body = { message, statusCode: status, error: REASON_PHRASES[status] }
  return withHeaders(jsonResponse(status, body), headers)
}

export function jsonResponse(status: number, body: unknown): ServiceResponse {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: JSON.stringify(body) }
}

export function withHeaders(response: ServiceResponse, headers: Record<string, string>): ServiceResponse {
  return { ...response, headers: { ...response.headers, ...headers } }
}
