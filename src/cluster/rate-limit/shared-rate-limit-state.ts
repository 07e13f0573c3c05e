import { createHash } from 'node:crypto'
import { ExportError } from '../../core/model/errors.ts'
import type { ReservedPermit, SharedQuota } from './shared-quota.ts'

/** What a quota belongs to: its name holds a hash of both, never the key itself. */
export type QuotaScope = { baseUrl: string; apiKey: string | undefined }

/** The name under which the book of a service and key is kept. */
export function quotaKey({ baseUrl, apiKey = '' }: QuotaScope): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey]))
    .digest('hex')
  return `walletlake:quota:${hash.slice(0, 32)}`
}

/**
 * The book of a quota on a server, which reads its own clock: `take` (how many) gives the pause, when to ask again, the
 * stretch, and three numbers a slot; `hold` (stretch, place, departure, wait) nothing; `look` the rate and the pause.
 */
export type SharedRateLimitState = (
  op: 'take' | 'hold' | 'look',
  ...args: number[]
) => Promise<readonly (string | number)[]>

/** The quota that a book keeps. */
export function sharedQuotaOn(backend: SharedRateLimitState): SharedQuota {
  return {
    reserve: async (max) => parsePermits(parseNumbers(await backend('take', max))),
    pause: async ({ permit, waitMs }) => {
      await backend('hold', permit?.window ?? -1, permit?.sequence ?? 0, permit?.at ?? 0, waitMs ?? -1)
    },
  }
}

/** The numbers that a book answers with; throws where one is none, or below 0. */
function parseNumbers(result: Awaited<ReturnType<SharedRateLimitState>>): number[] {
  const numbers = result.map(Number)
  if (numbers.every((number) => Number.isFinite(number) && number >= 0)) return numbers
  throw new ExportError('QUEUE_UNAVAILABLE', 'the quota in the queue holds what is no number')
}

function parsePermits([pausedMs = 0, nextRequestMs = 0, window = 0, ...rest]: readonly number[]) {
  const permits: ReservedPermit[] = []
  for (let offset = 0; offset + 2 < rest.length; offset += 3) {
    const [delayMs = 0, sequence = 0, at = 0] = rest.slice(offset, offset + 3)
    permits.push({ delayMs, sequence, at, window })
  }
  return { permits, nextRequestMs, pausedMs }
}

/** What is known of a quota: requests a second (undefined: nothing yet), and for how long nobody may ask. */
export type QuotaState = { perSecond: number | undefined; pausedMs: number }

/** Reads the book without taking a slot. */
export async function readQuotaState(backend: SharedRateLimitState): Promise<QuotaState> {
  const [perMs = 0, pausedMs = 0] = parseNumbers(await backend('look'))
  return { perSecond: perMs > 0 ? perMs * 1_000 : undefined, pausedMs }
}
