import { createHash } from 'node:crypto'
import { ExportError } from '../../core/model/errors.ts'
import type { SharedQuota, Slot } from './shared-quota.ts'

/** What a quota belongs to: its name holds a hash of both, never the key itself. */
export type QuotaOwner = { baseUrl: string; apiKey: string | undefined }

/** The name under which the book of a service and key is kept. */
export function quotaName({ baseUrl, apiKey = '' }: QuotaOwner): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey]))
    .digest('hex')
  return `walletlake:quota:${hash.slice(0, 32)}`
}

/**
 * The book of a quota on a server, which reads its own clock: `take` (how many) gives the pause, when to ask again, the
 * stretch, and three numbers a slot; `hold` (stretch, place, departure, wait) nothing; `look` the rate and the pause.
 */
export type Book = (op: 'take' | 'hold' | 'look', ...args: number[]) => Promise<readonly (string | number)[]>

/** The quota that a book keeps. */
export function bookedQuota(book: Book): SharedQuota {
  return {
    take: async (most) => readSlots(numbersIn(await book('take', most))),
    hold: async ({ slot, waitMs }) => {
      await book('hold', slot?.stretch ?? -1, slot?.nth ?? 0, slot?.at ?? 0, waitMs ?? -1)
    },
  }
}

/** The numbers that a book answers with; throws where one is none, or below 0. */
function numbersIn(answer: Awaited<ReturnType<Book>>): number[] {
  const numbers = answer.map(Number)
  if (numbers.every((one) => Number.isFinite(one) && one >= 0)) return numbers
  throw new ExportError('QUEUE_UNAVAILABLE', 'the quota in the queue holds what is no number')
}

function readSlots([pausedMs = 0, againMs = 0, stretch = 0, ...rest]: readonly number[]) {
  const slots: Slot[] = []
  for (let place = 0; place + 2 < rest.length; place += 3) {
    const [delayMs = 0, nth = 0, at = 0] = rest.slice(place, place + 3)
    slots.push({ delayMs, nth, at, stretch })
  }
  return { slots, againMs, pausedMs }
}

/** What is known of a quota: requests a second (undefined: nothing yet), and for how long nobody may ask. */
export type QuotaState = { perSecond: number | undefined; pausedMs: number }

/** Reads the book without taking a slot. */
export async function readQuota(book: Book): Promise<QuotaState> {
  const [perMs = 0, pausedMs = 0] = numbersIn(await book('look'))
  return { perSecond: perMs > 0 ? perMs * 1_000 : undefined, pausedMs }
}
