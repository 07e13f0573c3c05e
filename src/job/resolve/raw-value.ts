import { redactUrlPasswords } from '../../core/platform/secrets.ts'

/** Where something was found: a place in a file (line and column from 1), or an option or variable by name. */
export type SourceLocation =
  | { readonly file: string; readonly line: number; readonly column: number }
  | { readonly option: string }

/** Which field a value was given for, and where. */
export type RawOrigin = {
  /** The field's path in the job: `service.timeout`, `addresses[2].label`. */
  readonly field: string
  readonly location: SourceLocation
  /** Where the field's key stands, for complaints about the key itself. */
  readonly keyLocation: SourceLocation
}

/** A value that somebody gave for a field, before its checks. */
export type RawValue = RawOrigin & {
  readonly value: RawContent
  /** An unquoted scalar as it is written: to YAML `0x58a5…` is a number, to us it is an address. */
  readonly sourceText?: string
  /** It was complained of already: its value is not looked at. */
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

/** The value as a complaint shows it: short, on one line; of lists and mappings only the size. */
export function formatRawValue({ value, sourceText }: RawValue): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (value instanceof Map) return value.size === 0 ? 'an empty mapping' : `a mapping of ${value.size}`
  if (typeof value === 'string') return quoted(value)
  return truncate(sourceText === undefined || sourceText === '' ? String(value) : sourceText)
}

/** Text as JSON, cut to a readable length, without characters that play with a terminal. */
export function quoted(text: string): string {
  return JSON.stringify(truncate(redactUrlPasswords(text))).replace(
    UNPRINTABLE,
    (mark) => `\\u${toHex(mark)}`,
  )
}

/** The text of a scalar: of a string itself, of an unquoted number its source. */
export function textOf({ value, sourceText }: RawValue): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'bigint' ? (sourceText ?? String(value)) : undefined
}

/** `file:line:column`, or the option's name. */
export function formatLocation(location: SourceLocation): string {
  return 'option' in location ? location.option : `${location.file}:${location.line}:${location.column}`
}

const MAX_SHOWN_CHARACTERS = 100
/** What JSON leaves as it is though it cannot be seen, or a terminal may obey it: blanks, C1 controls, direction marks. */
const UNPRINTABLE = /[\u007f-\u00a0\u2000-\u200f\u2028-\u202f\u2066-\u2069\u3000\ufeff]/g

function truncate(text: string): string {
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS)}…`
}

function toHex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0')
}
