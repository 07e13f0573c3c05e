import type { Api } from '../core/model/api.ts'
import type { JsonObject } from './json.ts'
import type { ExplorerQuirk, Quirk } from './quirks.ts'
import type { ScheduleAfter } from './timers.ts'
import type { Delivery, DeliveryOutcome } from './webhooks/delivery-queue.ts'
import type { SignatureScheme } from './webhooks/sign.ts'

/** A data service without a socket: it turns a request into a response. `handle` must not throw. */
export type DataService = {
  handle(request: ServiceRequest): ServiceResponse | Promise<ServiceResponse>
  /** Stops deliveries, retries and a growing chain. Later requests are answered with 503. */
  close?(): void
}

/** The embedded service with its controls. */
export type DataServiceHandle = Required<DataService> & {
  /**
   * Adds blocks to the replayed chain, up to its last one, and sends the deliveries that they cause.
   *
   * @param blocks Number of blocks. @default 1
   * @returns the new head
   * @throws `USAGE` without a replay
   */
  advance(blocks?: number): Promise<number>
  /** Resolves when no delivery is in progress or queued. Deliveries that wait for their next attempt do not count. */
  idle(): Promise<void>
}

export type ServiceRequest = {
  readonly method: string
  /** Path and query, as on the request line: `/v1/chains/1/blocks/17173049/transactions?pageSize=10`. */
  readonly url: string
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Body as text; absent if there is none. */
  readonly body?: string
}

export type ServiceResponse = {
  status: number
  /** Header names in lower case. */
  headers: Record<string, string>
  /** JSON text, or an empty string. */
  body: string
}

export type DataServiceOptions = {
  /** The API that the service speaks. Explorer APIs have no webhooks, and quirks of their own. @default data-api */
  api?: Api | undefined
  /**
   * Accepted API keys. Requests without a key get 401, with another key 403. Without keys, all are accepted.
   * @default []
   */
  keys?: readonly string[] | undefined
  /** Header with the API key. @default x-service-api-key */
  keyHeader?: string | undefined
  /** Quota per API key (shared by all requests if there are no keys). Requests beyond it get 429. @default no limit */
  quota?: Quota | undefined
  /**
   * Additional chains by id, or replacements of the embedded ones, as whole items (interface 2.8): unfiltered, in chain
   * order.
   */
  chains?: Readonly<Record<string, readonly JsonObject[]>> | undefined
  /** Last block that is served. A function is called at every request, so that a chain can grow. @default all blocks */
  head?: number | (() => number) | undefined
  /** Makes one chain grow, with webhook deliveries. The replay determines its head, not `head`. @default no growth */
  replay?: ReplayOptions | undefined
  /** Maximum number of addresses per webhook; more get 400. @default 5 */
  maxAddresses?: number | undefined
  /** Deviations of the API `data-api` from the interface. @default none */
  quirks?: readonly Quirk[] | undefined
  /** Deviations of an explorer API. @default none */
  explorerQuirks?: readonly ExplorerQuirk[] | undefined
  /** Compute units with the quirk `compute-units`. @default those of the tier `free` */
  unitQuota?: { readonly perMinute: number; readonly perDay: number } | undefined
  /** Signature scheme of deliveries. @default canonical */
  signature?: SignatureScheme | undefined
  /** Delays before the retries of a delivery, in milliseconds. @default 10 s, 1, 5, 10, 30 min, 2, 6, 12, 24 h */
  deliveryDelaysMs?: readonly number[] | undefined
  /** Drops, duplicates or reorders the deliveries of one `advance` before they are sent. @default unchanged */
  deliver?: ((deliveries: readonly Delivery[]) => readonly Delivery[]) | undefined
  /** Called after every attempt of a delivery. */
  onDelivery?: ((outcome: DeliveryOutcome) => void) | undefined
  /** Monotonic clock in milliseconds, for the quota. @default performance.now */
  now?: (() => number) | undefined
  /** Wall clock in Unix milliseconds, for webhook creation and reindexing. @default Date.now */
  clock?: (() => number) | undefined
  /** Runs a function after a delay. @default setTimeout */
  scheduleAfter?: ScheduleAfter | undefined
  /** Receives the errors behind 500 responses, which contain no details themselves, and the errors of a replay. */
  onInternalError?: ((error: unknown) => void) | undefined
}

type ReplayOptions = {
  /** @default 43114 */
  readonly chain?: string | undefined
  /** Initial head. @default 0 */
  readonly from?: number | undefined
  /** Interval between blocks, in milliseconds. Without it, only `advance` adds blocks. */
  readonly everyMs?: number | undefined
}

type Quota = {
  /** Sustained rate in requests per second; may be a fraction. */
  readonly perSecond: number
  /** Burst capacity in requests. @default perSecond, rounded up */
  readonly burst?: number | undefined
}
