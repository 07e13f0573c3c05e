import { withoutUrlPasswords } from '../../core/platform/secrets.ts'

/** Where something was found: a place in a file (line and column from 1), or an option or variable by name. */
export type Place =
  | { readonly file: string; readonly line: number; readonly column: number }
  | { readonly option: string }

/** A value that somebody gave for a field, before its checks. */
export type Given = {
  /** The field's path in the job: `service.timeout`, `addresses[2].label`. */
  readonly field: string
  readonly place: Place
  /** Where the field's key stands, for complaints about the key itself. */
  readonly keyPlace: Place
  readonly value: GivenValue
  /** An unquoted scalar as it is written: to YAML `0x58a5…` is a number, to us it is an address. */
  readonly source?: string
  /** It was complained of already: its value is not looked at. */
  readonly isRefused?: true
}

export type GivenValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly Given[]
  | ReadonlyMap<string, Given>

/** The value as a complaint shows it: short, on one line; of lists and mappings only the size. */
export function showGiven({ value, source }: Given): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (value instanceof Map) return value.size === 0 ? 'an empty mapping' : `a mapping of ${value.size}`
  if (typeof value === 'string') return quoted(value)
  return cut(source === undefined || source === '' ? String(value) : source)
}

/** Text as JSON, cut to a readable length, without characters that play with a terminal. */
export function quoted(text: string): string {
  return JSON.stringify(cut(withoutUrlPasswords(text))).replace(UNPRINTABLE, (mark) => `\\u${hex(mark)}`)
}

/** The text of a scalar: of a string itself, of an unquoted number its source. */
export function textOf({ value, source }: Given): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'bigint' ? (source ?? String(value)) : undefined
}

/** `file:line:column`, or the option's name. */
export function showPlace(place: Place): string {
  return 'option' in place ? place.option : `${place.file}:${place.line}:${place.column}`
}

const SHOWN_CHARACTERS = 100
/** What JSON leaves as it is though it cannot be seen, or a terminal may obey it: blanks, C1 controls, direction marks. */
const UNPRINTABLE = /[\u007f-\u00a0\u2000-\u200f\u2028-\u202f\u2066-\u2069\u3000\ufeff]/g

function cut(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`
}

function hex(mark: string): string {
  return mark.charCodeAt(0).toString(16).padStart(4, '0')
}
