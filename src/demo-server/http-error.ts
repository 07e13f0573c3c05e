import type { ServiceResponse } from './data-service.ts'

/** The statuses of the interface's section 7, with their words; 413 is not among them, but HTTP's own. */
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
} as const

export type HttpErrorStatus = keyof typeof REASON_PHRASES

/** Why a request does not get what it asked for. It never leaves this room: it becomes an answer (section 7). */
export class HttpError extends Error {
  readonly status: HttpErrorStatus
  /** One sentence for each fault. */
  readonly messages: readonly string[]
  readonly headers: Record<string, string>

  constructor(
    status: HttpErrorStatus,
    message: string | readonly string[],
    headers: Record<string, string> = {},
  ) {
    const messages = typeof message === 'string' ? [message] : message
    super(messages.join(' '))
    this.name = 'Refusal'
    this.status = status
    this.messages = messages
    this.headers = headers
  }
}

/** The answer that says so: `{message, statusCode, error}`, the message an array where there are several faults. */
export function errorResponse({ status, messages, headers }: HttpError): ServiceResponse {
  const message = messages.length === 1 ? messages[0] : messages
  const response = jsonResponse(status, { message, statusCode: status, error: REASON_PHRASES[status] })
  return { ...response, headers: { ...response.headers, ...headers } }
}

export function jsonResponse(status: number, body: unknown): ServiceResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  }
}
