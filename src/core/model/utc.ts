/** Whether a text has the form of a day, such as 2024-03-31. */
export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text)

/**
 * Parses a day (2024-03-31, its first millisecond in UTC) or an instant (2024-03-31T12:00:00Z; seconds and
 * milliseconds are optional) to milliseconds since 1970. Returns undefined if the text is neither or the day
 * does not exist.
 */
export function parseUtc(text: string): number | undefined {
  if (!isDay(text) && !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text)) return undefined
  const ms = Date.parse(isDay(text) ? `${text}T00:00:00Z` : text)
  const isValid = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10))
  return isValid ? ms : undefined
}

export const DAY_MS = 86_400_000

/** The UTC day of an instant, such as `2024-03-31`. */
export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The end of an instant's UTC day, in milliseconds since 1970. */
export const endOfUtcDay = (ms: number): number => (Math.floor(ms / DAY_MS) + 1) * DAY_MS

/**
 * Formats milliseconds since 1970 as `2023-11-14 22:13 UTC`. Later instants than the year 9999 are clamped to
 * its end.
 */
export function formatMinute(ms: number): string {
  return `${new Date(Math.min(ms, LAST_INSTANT)).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** 9999-12-31T23:59:59.999Z */
const LAST_INSTANT = 253_402_300_799_999

/** Rounds an instant up to a whole minute and formats it as `formatMinute` does. */
export const formatMinuteCeil = (ms: number): string => formatMinute(Math.ceil(ms / 60_000) * 60_000)
