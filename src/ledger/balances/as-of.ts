import { optionError } from '../../core/model/option-error.ts'
import { DAY_MS, isDay, parseUtc } from '../../core/model/utc.ts'

/** The last position in the chain whose rows are included. */
export type AsOf = {
  /** Last included block. */
  block: number
  /** Last included time, in the format of the tables: 2023-11-14T22:46:40.000Z. */
  time: string
}

const ALL_ROWS: AsOf = { block: Number.POSITIVE_INFINITY, time: '9999' }

/**
 * Parses the option `--at`: a block number, a UTC day (included to its end) or a UTC instant. Without a text, all rows are
 * included. Throws USAGE if the text is none of these.
 */
export function parseAsOf(text: string | undefined): AsOf {
  if (text === undefined) return ALL_ROWS
  if (/^\d{1,15}$/.test(text)) return { ...ALL_ROWS, block: Number(text) }
  const instant = parseUtc(text)
  if (instant === undefined)
    throw optionError('at', {
      found: text,
      expected: 'a block number, a UTC day or a UTC instant',
      fix: 'Write it as 123456, 2024-03-31 (to the end of that day) or 2024-03-31T12:00:00Z.',
    })
  const time = new Date(isDay(text) ? instant + DAY_MS - 1 : instant)
  return { ...ALL_ROWS, time: time.toISOString() }
}

export function isIncluded({ block, time }: AsOf, row: { block: number; time: string }): boolean {
  return row.block <= block && row.time <= time
}
