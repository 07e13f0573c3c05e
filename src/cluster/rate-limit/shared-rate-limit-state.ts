import { createHash } from 'node:crypto'
import { ExportError } from '../../core/model/errors.ts'
import type { ReservedPermit, SharedQuota } from './shared-quota.ts'

/** The scope of a quota. Its key in Redis contains a hash of both fields, never the API key itself. */
export type QuotaScope = { baseUrl: string; apiKey: string | undefined }

/** The Redis key of the quota of a service and key. */
export function quotaKey({ baseUrl, apiKey = '' }: QuotaScope): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey]))
    .digest('hex')
  return `walletlake:quota:${hash.slice(0, 32)}`
}

/**
 * The shared rate-limit state of a quota on a server, which uses its own clock. Operations, their arguments
 * and results:
 *
 * - `reserve` (count): remaining pause, delay until the next call, window, and three numbers per permit:
 *   delay, sequence   number, send time
 * - `pause` (window, sequence number, send time, delay; -1: none): nothing
 * - `read`: rate (requests per ms; 0: unknown) and remaining pause
 */
export type SharedRateLimitState = (
  op: 'reserve' | 'pause' | 'read',
  ...args: number[]
) => Promise<readonly (string | number)[]>

/** Wraps the state as a `SharedQuota`. */
export function sharedQuotaOn(backend: SharedRateLimitState): SharedQuota {
  return {
    reserve: async (max) => parsePermits(parseNumbers(await backend('reserve', max))),
    pause: async ({ permit, waitMs }) => {
      await backend('pause', permit?.window ?? -1, permit?.sequence ?? 0, permit?.at ?? 0, waitMs ?? -1)
    },
  }
}

/** Parses a result. Throws QUEUE_UNAVAILABLE if a number is invalid or negative. */
function parseNumbers(result: Awaited<ReturnType<SharedRateLimitState>>): number[] {
  const numbers = result.map(Number)
  if (numbers.every((number) => Number.isFinite(number) && number >= 0)) return numbers
  throw new ExportError('QUEUE_UNAVAILABLE', 'the rate-limit state in the queue contains an invalid number')
}

function parsePermits([pausedMs = 0, nextRequestMs = 0, window = 0, ...rest]: readonly number[]) {
  const permits: ReservedPermit[] = []
  for (let offset = 0; offset + 2 < rest.length; offset += 3) {
    const [delayMs = 0, sequence = 0, at = 0] = rest.slice(offset, offset + 3)
    permits.push({ delayMs, sequence, at, window })
  }
  return { permits, nextRequestMs, pausedMs }
}

/**
 * State of a quota: the rate in requests per second (undefined: unknown yet) and the remaining pause in
 * milliseconds.
 */
export type QuotaState = { perSecond: number | undefined; pausedMs: number }

/** Reads the state without reserving a permit. */
export async function readQuotaState(backend: SharedRateLimitState): Promise<QuotaState> {
  const [perMs = 0, pausedMs = 0] = parseNumbers(await backend('read'))
  return { perSecond: perMs > 0 ? perMs * 1_000 : undefined, pausedMs }
}
