import { optionFault } from '../../core/model/option-error.ts'
import { DAY_MS, isDay, readUtc } from '../../core/model/utc.ts'

/** Up to where rows count. */
export type Moment = {
  /** Highest block that counts. */
  block: number
  /** Highest time that counts, as the tables write it. */
  time: string
}

const ALWAYS: Moment = { block: Number.POSITIVE_INFINITY, time: '9999' }

/**
 * The moment that a text names: a block (which counts whole), a UTC day (to its end), or an instant. Without text, all rows
 * count. Throws USAGE.
 */
export function momentOf(text: string | undefined): Moment {
  if (text === undefined) return ALWAYS
  if (/^\d{1,15}$/.test(text)) return { ...ALWAYS, block: Number(text) }
  const instant = readUtc(text)
  if (instant === undefined)
    throw optionFault('at', {
      found: text,
      expected: 'a block, a day or an instant of UTC',
      fix: 'Write it as 123456, 2024-03-31 (to the end of that day) or 2024-03-31T12:00:00Z.',
    })
  const time = new Date(isDay(text) ? instant + DAY_MS - 1 : instant)
  return { ...ALWAYS, time: time.toISOString() }
}

export function counts({ block, time }: Moment, row: { block: number; time: string }): boolean {
  return row.block <= block && row.time <= time
}
