import { keepingLast } from '../../core/platform/memoize-last.ts'
import type { DateForm } from './preset.ts'

/** Writes instants as a format has them; `time` is as the tables have it, 2023-11-14T22:46:40.000Z. */
export function instantWriter(form: DateForm): (time: string) => string {
  return keepingLast((time) => writeInstant(time, form))
}

function writeInstant(time: string, form: DateForm): string {
  const [date, clock] = [time.slice(0, 10), time.slice(11, 19)]
  const [year, month, day] = [time.slice(0, 4), time.slice(5, 7), time.slice(8, 10)]
  switch (form) {
    case 'YYYY-MM-DD HH:mm:ss':
      return `${date} ${clock}`
    case 'YYYY-MM-DD HH:mm:ss UTC':
      return `${date} ${clock} UTC`
    case 'YYYY-MM-DD HH:mm:ss+00:00':
      return `${date} ${clock}+00:00`
    case 'YYYY-MM-DDTHH:mm:ssZ':
      return `${date}T${clock}Z`
    case 'YYYY-MM-DDTHH:mm:ss.000Z':
      return `${date}T${clock}.000Z`
    case 'MM/DD/YYYY HH:mm:ss':
      return `${month}/${day}/${year} ${clock}`
    case 'DD.MM.YYYY HH:mm:ss':
      return `${day}.${month}.${year} ${clock}`
    case 'milliseconds':
      return String(Date.parse(time))
  }
}

/** The instant that a format's text stands for, in milliseconds since 1970; undefined where it is not of that form. */
export function readInstant(text: string, form: DateForm): number | undefined {
  const match = FORMS[form].exec(text)
  if (match === null) return undefined
  const { y, m, d, clock } = match.groups ?? {}
  const ms = form === 'milliseconds' ? Number(text) : Date.parse(`${y}-${m}-${d}T${clock}Z`)
  return Number.isNaN(ms) || (form !== 'milliseconds' && new Date(ms).getUTCDate() !== Number(d))
    ? undefined
    : ms
}

const CLOCK = String.raw`(?<clock>[01]\d:[0-5]\d:[0-5]\d|2[0-3]:[0-5]\d:[0-5]\d)`
const YMD = String.raw`(?<y>20\d\d)-(?<m>\d\d)-(?<d>\d\d)`
const FORMS: Readonly<Record<DateForm, RegExp>> = {
  'YYYY-MM-DD HH:mm:ss': new RegExp(`^${YMD} ${CLOCK}$`),
  'YYYY-MM-DD HH:mm:ss UTC': new RegExp(`^${YMD} ${CLOCK} UTC$`),
  'YYYY-MM-DD HH:mm:ss+00:00': new RegExp(String.raw`^${YMD} ${CLOCK}\+00:00$`),
  'YYYY-MM-DDTHH:mm:ssZ': new RegExp(`^${YMD}T${CLOCK}Z$`),
  'YYYY-MM-DDTHH:mm:ss.000Z': new RegExp(`^${YMD}T${CLOCK}\\.000Z$`),
  'MM/DD/YYYY HH:mm:ss': new RegExp(String.raw`^(?<m>\d\d)/(?<d>\d\d)/(?<y>20\d\d) ${CLOCK}$`),
  'DD.MM.YYYY HH:mm:ss': new RegExp(String.raw`^(?<d>\d\d)\.(?<m>\d\d)\.(?<y>20\d\d) ${CLOCK}$`),
  // Seconds would be taken for days of 1970.
  milliseconds: /^1\d{12}$/,
}
