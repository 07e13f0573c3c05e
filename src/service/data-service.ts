import type { JsonObject } from './json.ts'

/** A data service without its socket: one request in, one answer out; `answer` never throws. */
export type DataService = {
  answer(request: ServiceRequest): ServiceAnswer | Promise<ServiceAnswer>
}

export type ServiceRequest = {
  readonly method: string
  /** Path and query, as on the request line: `/v1/chains/1/blocks/17173049/transactions?pageSize=10`. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

export type ServiceAnswer = {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  /** JSON text. */
  body: string
}

export type DataServiceOptions = {
  /** Keys that are let in: without one 401, with another 403. None: open to all. @default [] */
  keys?: readonly string[] | undefined
  /** Header that carries the key. @default x-service-api-key */
  keyHeader?: string | undefined
  /** Requests a key (or everybody, where there are no keys) may make; over it 429. None: no limit. */
  quota?: Quota | undefined
  /** Further chains by id, or others in place of ours: whole items (interface 2.8), unfiltered, in chain order. */
  chains?: Readonly<Record<string, readonly JsonObject[]>> | undefined
  /** Last block that is served; a function is asked at every request, so that a chain can grow. None: all. */
  head?: number | (() => number) | undefined
  /** Milliseconds that never run backwards; only differences count. @default performance.now */
  now?: (() => number) | undefined
  /** Told what went wrong inside whenever 500 is answered; the answer itself says nothing about it. */
  onInternalError?: ((thrown: unknown) => void) | undefined
}

type Quota = {
  /** Requests a second in the long run; fractions are fine. */
  readonly perSecond: number
  /** Requests at once after a pause. @default perSecond, rounded up */
  readonly burst?: number | undefined
}
