import { redactUrlPasswords } from '../../core/platform/secrets.ts'

/** Location of a value: a position in a file (line and column from 1), or the name of an option or variable. */
export type SourceLocation =
  | { readonly file: string; readonly line: number; readonly column: number }
  | { readonly option: string }

/** The field that a value was given for, and its location. */
export type RawOrigin = {
  /** The field's path in the job: `service.timeout`, `addresses[2].label`. */
  readonly field: string
  readonly location: SourceLocation
  /** Location of the key, for diagnostics about the key itself. */
  readonly keyLocation: SourceLocation
}

/** The value of a field before parsing. */
export type RawValue = RawOrigin & {
  readonly value: RawContent
  /** Source text of an unquoted scalar. YAML reads `0x58a5…` as a number, but it is an address. */
  readonly sourceText?: string
  /** A diagnostic was already reported, so the value is ignored. */
  readonly isInvalid?: true
}

export type RawContent =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly RawValue[]
  | ReadonlyMap<string, RawValue>

/** Formats a value for a diagnostic: short, on one line. Of lists and mappings, only the size is shown. */
export function formatRawValue({ value, sourceText }: RawValue): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (value instanceof Map) return value.size === 0 ? 'an empty mapping' : `a mapping of ${value.size}`
  if (typeof value === 'string') return quoted(value)
  return truncate(sourceText === undefined || sourceText === '' ? String(value) : sourceText)
}

/** Quotes text as JSON, truncated, with URL passwords redacted and invisible and control characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(truncate(redactUrlPasswords(text))).replace(
    UNPRINTABLE,
    (mark) => `\\u${toHex(mark)}`,
  )
}

/** Returns a string value, or the source text of an unquoted number; undefined for other values. */
export function textOf({ value, sourceText }: RawValue): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'bigint' ? (sourceText ?? String(value)) : undefined
}

/** Returns `file:line:column`, or the name of the option. */
export function formatLocation(location: SourceLocation): string {
  return 'option' in location ? location.option : `${location.file}:${location.line}:${location.column}`
}

const MAX_SHOWN_CHARACTERS = 100
/** Invisible or terminal-affecting characters that JSON does not escape: blanks, C1 controls, direction marks. */
const UNPRINTABLE = /[\u007f-\u00a0\u2000-\u200f\u2028-\u202f\u2066-\u2069\u3000\ufeff]/g

function truncate(text: string): string {
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS)}…`
}

function toHex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0')
}
