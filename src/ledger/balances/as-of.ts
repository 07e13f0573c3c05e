import { optionError } from '../../core/model/option-error.ts'
import { DAY_MS, isDay, parseUtc } from '../../core/model/utc.ts'

/** Up to where rows count. */
export type AsOf = {
  /** Highest block that counts. */
  block: number
  /** Highest time that counts, as the tables write it. */
  time: string
}

const ALL_ROWS: AsOf = { block: Number.POSITIVE_INFINITY, time: '9999' }

/**
 * The moment that a text names: a block (which counts whole), a UTC day (to its end), or an instant. Without text, all rows
 * count. Throws USAGE.
 */
export function parseAsOf(text: string | undefined): AsOf {
  if (text === undefined) return ALL_ROWS
  if (/^\d{1,15}$/.test(text)) return { ...ALL_ROWS, block: Number(text) }
  const instant = parseUtc(text)
  if (instant === undefined)
    throw optionError('at', {
      found: text,
      expected: 'a block, a day or an instant of UTC',
      fix: 'Write it as 123456, 2024-03-31 (to the end of that day) or 2024-03-31T12:00:00Z.',
    })
  const time = new Date(isDay(text) ? instant + DAY_MS - 1 : instant)
  return { ...ALL_ROWS, time: time.toISOString() }
}

export function isIncluded({ block, time }: AsOf, row: { block: number; time: string }): boolean {
  return row.block <= block && row.time <= time
}
