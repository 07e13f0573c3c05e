import { ExportError } from '../../../core/model/errors.ts'

/** What may stand in a path: ids and numbers, exact. */
export type PathSegment = string | number | bigint

/**
 * Writes a path, each value encoded so that it stays inside its segment. Throws USAGE where a value could not be a
 * segment: empty text and dots lead to another path, and a number above 2^53 has lost digits.
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
  throw new ExportError('USAGE', `${JSON.stringify(text)} cannot stand in a path`, {
    fix: 'Give a chain, address, hash or id as text, or a whole number below 2^53.',
  })
}

/** Writes a query with its `?`, without what is undefined; empty where nothing is left. */
export function queryOf(parameters: Readonly<Record<string, PathSegment | undefined>>): string {
  const entries = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(entries))}`
}
