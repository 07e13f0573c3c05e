import { ExportError } from '../../core/model/errors.ts'
import { optionError } from '../../core/model/option-error.ts'
import { type Period, parsePeriod } from '../period.ts'

/** The period of a statement: a UTC year, or two UTC days or instants. */
export type PeriodOptions = {
  year?: string | undefined
  from?: string | undefined
  until?: string | undefined
}

/** Parses the options. A day as `until` is included to its end. Throws USAGE if they do not name one period. */
export function parseStatementPeriod({ year, from, until }: PeriodOptions): Period {
  if (year !== undefined && (from !== undefined || until !== undefined))
    throw new ExportError('USAGE', '--year and --from or --until name two periods', { fix: PERIOD_FIX })
  if (year !== undefined) {
    const days = daysOfYear(year)
    return parsePeriod(days.from, days.until)
  }
  if (from === undefined || until === undefined)
    throw new ExportError('USAGE', `${from === undefined ? '--from' : '--until'} or --year is missing`, {
      fix: PERIOD_FIX,
    })
  return parsePeriod(from, until)
}

const PERIOD_FIX = 'Give --year 2024, or both --from 2024-04-01 and --until 2025-03-31 (included).'

/** Returns the first and the last day of a UTC year. Throws USAGE if it is none. */
export function daysOfYear(year: string): { from: string; until: string } {
  if (/^(19[7-9]|[2-8]\d\d)\d$/.test(year)) return { from: `${year}-01-01`, until: `${year}-12-31` }
  throw optionError('year', {
    found: year,
    expected: 'a year from 1970 to 8999',
    fix: 'Write it as 2024. For another period, use --from and --until.',
  })
}
