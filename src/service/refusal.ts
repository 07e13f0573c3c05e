import type { ServiceAnswer } from './data-service.ts'

/** The statuses of the interface's section 7 that this service gives, with their words. */
const ERROR_WORDS = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
} as const

type RefusalStatus = keyof typeof ERROR_WORDS

/** Why a request gets no page. It never leaves this room: it becomes an answer with the body of section 7. */
export class Refusal extends Error {
  readonly status: RefusalStatus

  constructor(status: RefusalStatus, message: string) {
    super(message)
    this.name = 'Refusal'
    this.status = status
  }
}

/** The answer that says so: `{message, statusCode, error}`. */
export function answerRefusal({ status, message }: Pick<Refusal, 'status' | 'message'>): ServiceAnswer {
  return answerJson(status, { message, statusCode: status, error: ERROR_WORDS[status] })
}

export function answerJson(status: number, body: unknown): ServiceAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  }
}
