import type { ServiceAnswer } from './data-service.ts'

/** The statuses of the interface's section 7, with their words; 413 is not among them, but HTTP's own. */
const ERROR_WORDS = {
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

export type RefusalStatus = keyof typeof ERROR_WORDS

/** Why a request does not get what it asked for. It never leaves this room: it becomes an answer (section 7). */
export class Refusal extends Error {
  readonly status: RefusalStatus
  /** One sentence for each fault. */
  readonly faults: readonly string[]
  readonly headers: Record<string, string>

  constructor(
    status: RefusalStatus,
    message: string | readonly string[],
    headers: Record<string, string> = {},
  ) {
    const faults = typeof message === 'string' ? [message] : message
    super(faults.join(' '))
    this.name = 'Refusal'
    this.status = status
    this.faults = faults
    this.headers = headers
  }
}

/** The answer that says so: `{message, statusCode, error}`, the message an array where there are several faults. */
export function answerRefusal({ status, faults, headers }: Refusal): ServiceAnswer {
  const message = faults.length === 1 ? faults[0] : faults
  const answer = answerJson(status, { message, statusCode: status, error: ERROR_WORDS[status] })
  return { ...answer, headers: { ...answer.headers, ...headers } }
}

export function answerJson(status: number, body: unknown): ServiceAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  }
}
