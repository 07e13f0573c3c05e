import { ExportError } from '../core/errors.ts'

/** Instants that count, as the tables write them: `from` does, `to` does not. */
export type Period = { from: string; to: string }

/** The period between two UTC days or instants; a day as its end counts whole. Throws USAGE. */
export function periodOf(from: string | undefined, to: string | undefined): Period {
  return {
    from: from === undefined ? '' : instantOf('from', from).toISOString(),
    to: to === undefined ? '9999' : endOf(to).toISOString(),
  }
}

const DAY_MS = 86_400_000
const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text)

function endOf(text: string): Date {
  const instant = instantOf('to', text)
  return isDay(text) ? new Date(instant.getTime() + DAY_MS) : instant
}

function instantOf(option: string, text: string): Date {
  const instant = new Date(isDay(text) ? `${text}T00:00:00Z` : text)
  const isWhole = isDay(text) || /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text)
  if (isWhole && !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text.slice(0, 10)))
    return instant
  throw new ExportError('USAGE', `--${option}: found ${text}, expected a day or an instant of UTC`, {
    fix: 'Write it as 2024-03-31, or as 2024-03-31T12:00:00Z.',
  })
}
