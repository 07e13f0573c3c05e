import { ExportError } from '../../../core/model/errors.ts'

/** A value in a path: an id or an exact number. */
export type PathSegment = string | number | bigint

/**
 * Builds a path whose values are encoded so that each stays within its segment.
 *
 * @throws USAGE if a value cannot be a segment: empty text and dots would change the path, and a number above
 *   2^53 has lost digits
 */
export function path(parts: TemplateStringsArray, ...values: readonly PathSegment[]): string {
  return parts
    .map((part, index) => (index === 0 ? part : encodeSegment(values[index - 1] ?? '') + part))
    .join('')
}

function encodeSegment(value: PathSegment): string {
  const text = String(value)
  const inexact = typeof value === 'number' && !Number.isSafeInteger(value)
  if (!inexact && text !== '' && text !== '.' && text !== '..' && text.isWellFormed())
    return encodeURIComponent(text)
  throw new ExportError('USAGE', `${JSON.stringify(text)} cannot be used in a path`, {
    fix: 'Give a chain, address, hash or id as text, or a whole number below 2^53.',
  })
}

/** Builds a query string with its `?`, without undefined parameters; empty if none remain. */
export function queryOf(parameters: Readonly<Record<string, PathSegment | undefined>>): string {
  const entries = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(entries))}`
}
