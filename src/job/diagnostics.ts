import { ExportError } from '../core/model/errors.ts'
import { formatLocation, formatRawValue, type RawValue, type SourceLocation } from './resolve/raw-value.ts'

/** One thing wrong with a job: all of them are gathered, then thrown together. */
export type Diagnostic = {
  readonly location: SourceLocation
  /** Path of the field; undefined where the file as a whole is meant. */
  readonly field?: string | undefined
  /** The value as JSON or a description of it; never a secret. */
  readonly found: string
  readonly expected: string
  readonly didYouMean?: string | undefined
  /** So many further ones follow in the same file, only counted. */
  readonly more?: number
  /** What several complaints would repeat: it stands once below all of them. */
  readonly note?: string | undefined
  /** True where the file itself cannot be read: it has no line that could be corrected. */
  readonly isUnreadable?: boolean
}

export type ReportDiagnostic = (diagnostic: Diagnostic) => void

export type Diagnostics = {
  readonly report: ReportDiagnostic
  /** Throws JOB_INVALID with every complaint so far where there is one; each begins a line, at most 80 columns wide. */
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

/** The usual complaint: this value is not what was expected. */
export function invalidValue(raw: RawValue, expected: string, didYouMean?: string): Diagnostic {
  return { location: raw.location, field: raw.field, found: formatRawValue(raw), expected, didYouMean }
}

/** The lines of several messages as one: a complaint of two of them, such as that of an option, stands once. */
export function mergeDiagnostics(messages: readonly (readonly string[])[]): string[] {
  const diagnostics = messages.map((lines) => {
    const starts = lines.flatMap((line, at) => (at === 0 || !line.startsWith(INDENT) ? at : []))
    return starts.map((start, at) => lines.slice(start, starts[at + 1]))
  })
  const byText = new Map(diagnostics.flat().map((lines) => [lines.join('\n'), lines]))
  return [...byText.values()].flat()
}

/** Where no line of a file is wrong, the advice is of options and variables; else that of the table of failures. */
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
const OPTIONS_HELP = '`walletlake run --help` describes the options.'

const MAX_SHOWN_DIAGNOSTICS = 1_000

function listDiagnostics(diagnostics: Diagnostic[]): string[] {
  const shown = diagnostics.toSorted(compareLocations).slice(0, MAX_SHOWN_DIAGNOSTICS)
  const more = diagnostics.length - shown.length
  const notes = new Set(shown.flatMap(({ note }) => note ?? []))
  const footnotes = [...notes].flatMap((note) => wrapTexts(note.split(' ')))
  return [...shown.flatMap(formatDiagnostic), ...(more > 0 ? [`and ${more} more`] : []), ...footnotes]
}

/** Options first; within a file from its top; files in the order in which they were read. */
function compareLocations({ location: a }: Diagnostic, { location: b }: Diagnostic): number {
  if ('option' in a || 'option' in b) return Number('option' in b) - Number('option' in a)
  return a.file === b.file ? a.line - b.line || a.column - b.column : 0
}

function formatDiagnostic({ location, field, found, expected, didYouMean, more = 0 }: Diagnostic): string[] {
  const locationText = formatLocation(location).replace(/\p{Cc}/gu, '\ufffd')
  const subject = field === undefined || 'option' in location ? locationText : `${locationText}: ${field}`
  const hint = didYouMean === undefined ? '' : ` (did you mean ${formatSuggestion(didYouMean, found)}?)`
  const [start, rest] = [`${subject}: found ${found},`, `expected ${expected}${hint}`]
  const text = wrapTexts([
    start,
    ...(INDENT.length + rest.length <= MAX_LINE_WIDTH ? [rest] : rest.split(' ')),
  ])
  return more > 0 ? [...text, `and ${more} more`] : text
}

/** Where a number, a boolean or a list was given as text, the quotes were what was wrong. */
function formatSuggestion(suggestion: string, found: string): string {
  return found.startsWith('"') && /^(\d+|true|false|\[.*\])$/.test(suggestion)
    ? suggestion
    : JSON.stringify(suggestion)
}

const MAX_LINE_WIDTH = 80
/** Lines that begin so belong to the one above. */
const INDENT = '  '

/** Texts in lines of that width, none of them broken; all lines but the first are indented. */
function wrapTexts(texts: readonly string[]): string[] {
  const lines: string[] = []
  for (const text of texts) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(text)
    else if (last.length + 1 + text.length <= MAX_LINE_WIDTH) lines[lines.length - 1] = `${last} ${text}`
    else lines.push(`${INDENT}${text}`)
  }
  return lines
}
