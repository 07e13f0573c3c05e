import { ExportError } from '../core/model/errors.ts'
import { optionError } from '../core/model/option-error.ts'
import { DAY_MS, isDay, parseUtc } from '../core/model/utc.ts'
import type { Dataset } from '../read/dataset.ts'

/** Times of the first and the last row of a ledger, in the format of the tables. */
export type TimeRange = { first: string; last: string }

/** Reads the time range of an export's ledger; undefined if it has no rows. */
export async function readTimeRange(opened: Dataset): Promise<TimeRange | undefined> {
  let range: TimeRange | undefined
  for await (const rows of opened.stream('ledger', ['block_timestamp'])) {
    for (const { block_timestamp: time } of rows) range = { first: range?.first ?? time, last: time }
  }
  return range
}

/** The half-open interval [from, to) of included times, in the format of the tables. */
export type Period = { from: string; to: string }

/**
 * Parses `--from` and `--until`, each a UTC day or instant. A day given as `until` is included to its end; an instant is not
 * included. Throws USAGE if a text is invalid or the period is empty.
 */
export function parsePeriod(from: string | undefined, until: string | undefined): Period {
  const first = from === undefined ? undefined : parseInstant('from', from)
  const end = until === undefined ? undefined : parseEnd(until)
  if (first !== undefined && end !== undefined && first >= end)
    throw new ExportError('USAGE', `--from ${from} is not before --until ${until}`, {
      fix: 'Give the earlier one as --from. For a single day, give that day as both.',
    })
  return {
    from: first === undefined ? '' : new Date(first).toISOString(),
    to: end === undefined || end >= YEAR_10000 ? '9999' : new Date(end).toISOString(),
  }
}

/** The last instant before a time; both have the format of the tables. */
export const instantBefore = (time: string): string => new Date(Date.parse(time) - 1).toISOString()

/** The texts of instants from here on sort before all others, because they begin with `+`. */
const YEAR_10000 = Date.UTC(10_000, 0)

const parseEnd = (text: string) => parseInstant('until', text) + (isDay(text) ? DAY_MS : 0)

function parseInstant(option: string, text: string): number {
  const instant = parseUtc(text)
  if (instant !== undefined) return instant
  throw optionError(option, {
    found: text,
    expected: 'a UTC day or instant',
    fix: 'Write it as 2024-03-31, or as 2024-03-31T12:00:00Z.',
  })
}
