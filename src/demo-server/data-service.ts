import type { JsonObject } from './json.ts'
import type { ScheduleAfter } from './timers.ts'
import type { Delivery, DeliveryOutcome } from './webhooks/delivery-queue.ts'
import type { SignatureScheme } from './webhooks/sign.ts'

/** A data service without its socket: one request in, one answer out; `answer` never throws. */
export type DataService = {
  handle(request: ServiceRequest): ServiceResponse | Promise<ServiceResponse>
  /** Ends what it does on its own: deliveries, retries, a chain that grows. From then on it answers 503. */
  close?(): void
}

/** The embedded service, with what its owner may do beside asking. */
export type DataServiceHandle = Required<DataService> & {
  /**
   * Lets the replayed chain grow by some blocks, 1 unless told, and sends the deliveries that they make; gives the
   * chain's head, which stays at its last block. Fails with `USAGE` without a replay.
   */
  advance(blocks?: number): Promise<number>
  /** Resolves when no delivery is under way or due; what waits for its next try does not count. */
  idle(): Promise<void>
}

export type ServiceRequest = {
  readonly method: string
  /** Path and query, as on the request line: `/v1/chains/1/blocks/17173049/transactions?pageSize=10`. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** As text; absent: none. */
  readonly body?: string
}

export type ServiceResponse = {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  /** JSON text, or nothing at all. */
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
  /** Lets one chain grow from a block on, with deliveries; its head is then not `head`. None: it stands still. */
  replay?: ReplayOptions | undefined
  /** Addresses that one webhook may watch; over it 400. @default 5 */
  maxAddresses?: number | undefined
  /** Time that a new reading of a token's metadata takes, in milliseconds. @default 0 */
  reindexDelayMs?: number | undefined
  /** How deliveries are signed. @default canonical */
  signature?: SignatureScheme | undefined
  /** Time that a receiver has to answer, in milliseconds. @default 10_000 */
  deliveryTimeoutMs?: number | undefined
  /** Waits before a delivery is tried again, in milliseconds. @default 10 s, 1, 5, 10, 30 min, 2, 6, 12, 24 h */
  deliveryDelaysMs?: readonly number[] | undefined
  /** Drops, doubles or shuffles the deliveries of one `advance` before they are sent. None: as they are. */
  deliver?: ((deliveries: readonly Delivery[]) => readonly Delivery[]) | undefined
  /** Told of every try of a delivery. */
  onDelivery?: ((outcome: DeliveryOutcome) => void) | undefined
  /** Breaks down for a request with the status it gives, before the key is looked at. None: never. */
  outage?: ((request: ServiceRequest) => 500 | 502 | 503 | undefined) | undefined
  /** Milliseconds that never run backwards; only differences count. @default performance.now */
  now?: (() => number) | undefined
  /** Unix milliseconds, for what is created or read again. @default Date.now */
  clock?: (() => number) | undefined
  /** Runs what is due later. @default setTimeout */
  scheduleAfter?: ScheduleAfter | undefined
  /** Told what went wrong inside whenever 500 is answered; the answer itself says nothing about it. */
  onInternalError?: ((thrown: unknown) => void) | undefined
}

export type ReplayOptions = {
  /** @default 43114 */
  readonly chain?: string | undefined
  /** The head it begins with. @default 0 */
  readonly from?: number | undefined
  /** Milliseconds a block. None: it grows by `advance` only. */
  readonly everyMs?: number | undefined
}

type Quota = {
  /** Requests a second in the long run; fractions are fine. */
  readonly perSecond: number
  /** Requests at once after a pause. @default perSecond, rounded up */
  readonly burst?: number | undefined
}
