import type { MeteredOperation } from '../core/model/compute-units.ts'
import type { RequestLine } from '../http/request-events.ts'

/** What requests cost in the compute units of a service, and its quota as far as it is known. */
export type Meter = {
  /** Compute units of one request. */
  unitsOf(request: RequestLine): number
  /** Compute units of one request of each operation. */
  readonly costs: Readonly<Record<MeteredOperation, number>>
  /** The quota, in compute units. Undefined if neither a tier nor a limit is set. */
  readonly perMinute: number | undefined
  readonly perDay: number | undefined
  /** The rate of an operation at which the quota is used and not exceeded; undefined if it is unknown. */
  requestsPerMs(operation: MeteredOperation): number | undefined
}
