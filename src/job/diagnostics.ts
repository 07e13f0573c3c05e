import { ExportError } from '../core/model/errors.ts'
import { type Given, type Place, showGiven, showPlace } from './resolve/raw-value.ts'

/** One thing wrong with a job: all of them are gathered, then thrown together. */
export type Complaint = {
  readonly place: Place
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
  readonly isUnread?: boolean
}

export type Complain = (complaint: Complaint) => void

export type Complaints = {
  readonly complain: Complain
  /** Throws JOB_INVALID with every complaint so far where there is one; each begins a line, at most 80 columns wide. */
  readonly throwIfAny: () => void
}

export function openComplaints(): Complaints {
  const complaints: Complaint[] = []
  return {
    complain: (complaint) => complaints.push(complaint),
    throwIfAny: () => {
      if (complaints.length === 0) return
      throw new ExportError('JOB_INVALID', listComplaints(complaints), { fix: fixOf(complaints) })
    },
  }
}

/** The usual complaint: this value is not what was expected. */
export function against(given: Given, expected: string, didYouMean?: string): Complaint {
  return { place: given.place, field: given.field, found: showGiven(given), expected, didYouMean }
}

/** The lines of several messages as one: a complaint of two of them, such as that of an option, stands once. */
export function uniteComplaints(messages: readonly (readonly string[])[]): string[] {
  const complaints = messages.map((lines) => {
    const starts = lines.flatMap((line, at) => (at === 0 || !line.startsWith(INDENT) ? at : []))
    return starts.map((start, at) => lines.slice(start, starts[at + 1]))
  })
  const byText = new Map(complaints.flat().map((lines) => [lines.join('\n'), lines]))
  return [...byText.values()].flat()
}

/** Where no line of a file is wrong, the advice is of options and variables; else that of the table of failures. */
function fixOf(complaints: readonly Complaint[]): string | undefined {
  if (complaints.every(({ isUnread = false }) => isUnread)) return UNREAD
  const names = complaints.map(({ place }) => ('option' in place ? place.option : undefined))
  if (names.includes(undefined)) return undefined
  const isOption = (name: string | undefined) => name?.startsWith('--') ?? false
  if (names.every(isOption)) return `Correct the options named above. ${OPTIONS_HELP}`
  if (names.some(isOption)) return `Correct the options and variables named above. ${OPTIONS_HELP}`
  return 'Correct the environment variables named above.'
}

const UNREAD = 'Name a job file that can be read; `walletlake init` writes one.'
const OPTIONS_HELP = '`walletlake run --help` describes the options.'

const SHOWN_COMPLAINTS = 1_000

function listComplaints(complaints: Complaint[]): string[] {
  const shown = complaints.toSorted(inOrderOfPlaces).slice(0, SHOWN_COMPLAINTS)
  const more = complaints.length - shown.length
  const notes = new Set(shown.flatMap(({ note }) => note ?? []))
  const below = [...notes].flatMap((note) => inLines(note.split(' ')))
  return [...shown.flatMap(showComplaint), ...(more > 0 ? [`and ${more} more`] : []), ...below]
}

/** Options first; within a file from its top; files in the order in which they were read. */
function inOrderOfPlaces({ place: a }: Complaint, { place: b }: Complaint): number {
  if ('option' in a || 'option' in b) return Number('option' in b) - Number('option' in a)
  return a.file === b.file ? a.line - b.line || a.column - b.column : 0
}

function showComplaint({ place, field, found, expected, didYouMean, more = 0 }: Complaint): string[] {
  const where = showPlace(place).replace(/\p{Cc}/gu, '\ufffd')
  const about = field === undefined || 'option' in place ? where : `${where}: ${field}`
  const hint = didYouMean === undefined ? '' : ` (did you mean ${showMeant(didYouMean, found)}?)`
  const [start, rest] = [`${about}: found ${found},`, `expected ${expected}${hint}`]
  const text = inLines([start, ...(INDENT.length + rest.length <= COLUMNS ? [rest] : rest.split(' '))])
  return more > 0 ? [...text, `and ${more} more`] : text
}

/** Where a number, a boolean or a list was given as text, the quotes were what was wrong. */
function showMeant(meant: string, found: string): string {
  return found.startsWith('"') && /^(\d+|true|false|\[.*\])$/.test(meant) ? meant : JSON.stringify(meant)
}

const COLUMNS = 80
/** Lines that begin so belong to the one above. */
const INDENT = '  '

/** Texts in lines of that width, none of them broken; all lines but the first are indented. */
function inLines(texts: readonly string[]): string[] {
  const lines: string[] = []
  for (const text of texts) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(text)
    else if (last.length + 1 + text.length <= COLUMNS) lines[lines.length - 1] = `${last} ${text}`
    else lines.push(`${INDENT}${text}`)
  }
  return lines
}
