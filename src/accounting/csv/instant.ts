import { memoizeLast } from '../../core/platform/memoize-last.ts'
import type { DateFormat } from './preset.ts'

/** Creates a function that formats a time of the tables, such as 2023-11-14T22:46:40.000Z. */
export function createInstantFormatter(format: DateFormat): (time: string) => string {
  return memoizeLast((time) => formatInstant(time, format))
}

function formatInstant(time: string, format: DateFormat): string {
  const [date, timeOfDay] = [time.slice(0, 10), time.slice(11, 19)]
  const [year, month, day] = [time.slice(0, 4), time.slice(5, 7), time.slice(8, 10)]
  switch (format) {
    case 'YYYY-MM-DD HH:mm:ss':
      return `${date} ${timeOfDay}`
    case 'YYYY-MM-DD HH:mm:ss UTC':
      return `${date} ${timeOfDay} UTC`
    case 'YYYY-MM-DD HH:mm:ss+00:00':
      return `${date} ${timeOfDay}+00:00`
    case 'YYYY-MM-DDTHH:mm:ssZ':
      return `${date}T${timeOfDay}Z`
    case 'YYYY-MM-DDTHH:mm:ss.000Z':
      return `${date}T${timeOfDay}.000Z`
    case 'MM/DD/YYYY HH:mm:ss':
      return `${month}/${day}/${year} ${timeOfDay}`
    case 'DD.MM.YYYY HH:mm:ss':
      return `${day}.${month}.${year} ${timeOfDay}`
    case 'milliseconds':
      return String(Date.parse(time))
  }
}

/** Parses a formatted time to Unix milliseconds; undefined if it does not match the format. */
export function parseCsvInstant(text: string, format: DateFormat): number | undefined {
  const match = DATE_PATTERNS[format].exec(text)
  if (match === null) return undefined
  const { y, m, d, clock } = match.groups ?? {}
  const ms = format === 'milliseconds' ? Number(text) : Date.parse(`${y}-${m}-${d}T${clock}Z`)
  return Number.isNaN(ms) || (format !== 'milliseconds' && new Date(ms).getUTCDate() !== Number(d))
    ? undefined
    : ms
}

const CLOCK = String.raw`(?<clock>[01]\d:[0-5]\d:[0-5]\d|2[0-3]:[0-5]\d:[0-5]\d)`
const YMD = String.raw`(?<y>20\d\d)-(?<m>\d\d)-(?<d>\d\d)`
const DATE_PATTERNS: Readonly<Record<DateFormat, RegExp>> = {
  'YYYY-MM-DD HH:mm:ss': new RegExp(`^${YMD} ${CLOCK}$`),
  'YYYY-MM-DD HH:mm:ss UTC': new RegExp(`^${YMD} ${CLOCK} UTC$`),
  'YYYY-MM-DD HH:mm:ss+00:00': new RegExp(String.raw`^${YMD} ${CLOCK}\+00:00$`),
  'YYYY-MM-DDTHH:mm:ssZ': new RegExp(`^${YMD}T${CLOCK}Z$`),
  'YYYY-MM-DDTHH:mm:ss.000Z': new RegExp(`^${YMD}T${CLOCK}\\.000Z$`),
  'MM/DD/YYYY HH:mm:ss': new RegExp(String.raw`^(?<m>\d\d)/(?<d>\d\d)/(?<y>20\d\d) ${CLOCK}$`),
  'DD.MM.YYYY HH:mm:ss': new RegExp(String.raw`^(?<d>\d\d)\.(?<m>\d\d)\.(?<y>20\d\d) ${CLOCK}$`),
  // Exactly 13 digits, so Unix times in seconds, which would be read as days in 1970, do not match.
  milliseconds: /^1\d{12}$/,
}
