/**
 * Parses a Retry-After header: seconds, or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now - milliseconds since 1970.
 * @returns milliseconds to wait; undefined if the header is absent or has neither form.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000)
  // Date.parse reads "-1" as a day in 2001, so only text with a time of day is a date. Without a zone it is UTC.
  if (!/\d\d:\d\d:\d\d/.test(text)) return undefined
  const date = Date.parse(/\d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
