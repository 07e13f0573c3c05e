import { ExportError } from '../core/model/errors.ts'
import { redactUrlPasswords } from '../core/platform/secrets.ts'

/** One problem of a job. All diagnostics are collected and thrown together. */
export type Diagnostic = {
  readonly location: SourceLocation
  /** Path of the field; undefined if the diagnostic concerns the whole file. */
  readonly field?: string | undefined
  /** The value as JSON or a description of it; never a secret. */
  readonly found: string
  readonly expected: string
  readonly didYouMean?: string | undefined
  /** Number of further diagnostics of the same file that are not listed. */
  readonly more?: number
  /** Text that several diagnostics share. It is printed once, below all of them. */
  readonly note?: string | undefined
  /** True if the file cannot be read, so that it has no line to correct. */
  readonly isUnreadable?: boolean
}

export type ReportDiagnostic = (diagnostic: Diagnostic) => void

export type Diagnostics = {
  readonly report: ReportDiagnostic
  /** Throws JOB_INVALID with all diagnostics so far, if there are any, each on one line, so that it can be searched for. */
  readonly throwIfAny: () => void
}

export function openDiagnostics(): Diagnostics {
  const diagnostics: Diagnostic[] = []
  return {
    report: (diagnostic) => diagnostics.push(diagnostic),
    throwIfAny: () => {
      if (diagnostics.length === 0) return
      throw new ExportError('JOB_INVALID', listDiagnostics(diagnostics), { fix: fixFor(diagnostics) })
    },
  }
}

/** What is wrong with a value: what was expected, or also what replaces the value in the diagnostic. */
export type Problem = Pick<Diagnostic, 'expected' | 'didYouMean'> & { readonly found?: string }

/** Returns the diagnostic for a value that is not the expected one. */
export function invalidValue(raw: RawValue, problem: string | Problem): Diagnostic {
  const { location, field } = raw
  const stated = typeof problem === 'string' ? { expected: problem } : problem
  return { location, field, found: formatRawValue(raw), ...stated }
}

/** Returns a fix for options and variables if no line of a file is wrong, or undefined for the default fix of JOB_INVALID. */
function fixFor(diagnostics: readonly Diagnostic[]): string | undefined {
  if (diagnostics.every(({ isUnreadable = false }) => isUnreadable)) return UNREADABLE_FIX
  const names = diagnostics.map(({ location }) => ('option' in location ? location.option : undefined))
  if (names.includes(undefined)) return undefined
  const isOption = (name: string | undefined) => name?.startsWith('--') ?? false
  if (names.every(isOption)) return `Correct the options named above. ${OPTIONS_HELP}`
  if (names.some(isOption)) return `Correct the options and variables named above. ${OPTIONS_HELP}`
  return 'Correct the environment variables named above.'
}

const UNREADABLE_FIX = 'Name a job file that can be read; `walletlake init` writes one.'
const OPTIONS_HELP = 'The --help of the command describes them.'

const MAX_SHOWN_DIAGNOSTICS = 1_000

function listDiagnostics(diagnostics: Diagnostic[]): string[] {
  const shown = diagnostics.toSorted(compareLocations).slice(0, MAX_SHOWN_DIAGNOSTICS)
  const more = diagnostics.length - shown.length
  const notes = new Set(shown.flatMap(({ note }) => note ?? []))
  return [...shown.flatMap(formatDiagnostic), ...(more > 0 ? [`and ${more} more`] : []), ...notes]
}

/** What is found in place of a file that does not exist. */
export const NO_SUCH_FILE = 'no such file'

/** Sorts options first, then files in the order in which they were read, each by line and column. */
function compareLocations({ location: a }: Diagnostic, { location: b }: Diagnostic): number {
  if ('option' in a || 'option' in b) return Number('option' in b) - Number('option' in a)
  return a.file === b.file ? a.line - b.line || a.column - b.column : 0
}

function formatDiagnostic({ location, field, found, expected, didYouMean, more = 0 }: Diagnostic): string[] {
  const locationText = formatLocation(location).replace(/\p{Cc}/gu, '\ufffd')
  const subject = field === undefined || 'option' in location ? locationText : `${locationText}: ${field}`
  const hint = didYouMean === undefined ? '' : ` (did you mean ${formatSuggestion(didYouMean, found)}?)`
  if (found === NO_SUCH_FILE && field === undefined && !('option' in location))
    return [`${location.file.replace(/\p{Cc}/gu, '\ufffd')}: ${found}`]
  const text = `${subject}: found ${found}, expected ${expected}${hint}`
  return more > 0 ? [text, `and ${more} more`] : [text]
}

/** Shows a number, boolean or list without quotes if it was given as text, because the quotes were the mistake. */
function formatSuggestion(suggestion: string, found: string): string {
  return found.startsWith('"') && /^(\d+|true|false|\[.*\])$/.test(suggestion)
    ? suggestion
    : JSON.stringify(suggestion)
}

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
