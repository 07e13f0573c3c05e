import { stringify } from 'csv-stringify/sync'
import { type Cell, type Column, PREFIX, type Row } from '../core/table/column.ts'
import { appendBytes, appendPlain, appendText, appendWhole, type ByteText, newByteText } from './byte-text.ts'

export type CsvOptions = {
  /** Put a `'` before text that a spreadsheet would run as a formula. */
  escapeFormulas: boolean
  /** Write empty text as `""`, which our Parquet is made from: there it is not null. */
  quoteEmpty: boolean
}

/** Lines of one table, waiting to be written. */
export type CsvLines = {
  add(row: Row): void
  /** Bytes that wait. */
  size(): number
  /** Hands out what waits; the bytes are good until the next row. */
  take(): Lines
}

export type Lines = {
  bytes: Uint8Array
  rows: number
  /** Bytes of the longest line. */
  longest: number
}

/** The header row, with its line end. */
export function csvHeader(columns: readonly Column[]): string {
  return quoted(columns.map(({ name }) => name))
}

/**
 * Turns rows into CSV lines (CONTRACT section 3): RFC 4180 quoting, `\n`, null as an empty field. Columns are turned to
 * text by their type, so that numbers are never escaped and never rounded. A cell with nothing to quote is itself; any
 * other is csv-stringify's work. What is made here, table by table, shares what the rows of a transaction begin with.
 */
export function csvMaker(options: CsvOptions): (columns: readonly Column[]) => CsvLines {
  const cells = cellsOf(options)
  const prefix = prefixOf(cells)
  return (columns) => {
    const isPrefixed = PREFIX.every((column, at) => column === columns[at])
    const appends = columns.map(({ type }) => cells[type])
    return linesOf(appends, isPrefixed ? prefix : undefined)
  }
}

const [COMMA, LINE_FEED] = [44, 10]

type Waiting = {
  to: ByteText
  rows: number
  longest: number
  appends: readonly AppendCell[]
  prefix: AppendPrefix | undefined
}

function linesOf(appends: readonly AppendCell[], prefix: AppendPrefix | undefined): CsvLines {
  const waiting: Waiting = { to: newByteText(), rows: 0, longest: 0, appends, prefix }
  return {
    add: (row) => addLine(waiting, row),
    size: () => waiting.to.end,
    take: () => {
      const { to, rows, longest } = waiting
      const lines = { bytes: to.bytes.subarray(0, to.end), rows, longest }
      to.end = 0
      waiting.rows = 0
      waiting.longest = 0
      return lines
    },
  }
}

/** One function for all tables: each of its own would be compiled for itself. */
function addLine(waiting: Waiting, row: Row): void {
  const { to, appends, prefix } = waiting
  const start = to.end
  prefix?.(to, row)
  appendCells(to, row, { appends, from: prefix === undefined ? 0 : PREFIX.length, until: row.length })
  to.bytes[to.end++] = LINE_FEED
  waiting.rows += 1
  if (to.end - start > waiting.longest) waiting.longest = to.end - start
}

type Cells = { appends: readonly AppendCell[]; from: number; until: number }

/** Cells of a row, each but the row's first behind a comma. */
function appendCells(to: ByteText, row: Row, { appends, from, until }: Cells): void {
  for (let at = from; at < until; at += 1) {
    const cell = row[at] ?? null
    if (at > 0) to.bytes[to.end++] = COMMA
    if (cell !== null) appends[at]?.(to, cell)
  }
}

type AppendCell = (to: ByteText, cell: Exclude<Cell, null>) => void
type AppendPrefix = (to: ByteText, row: Row) => void

function cellsOf({ escapeFormulas, quoteEmpty }: CsvOptions): Record<Column['type'], AppendCell> {
  const rememberQuoted = remembered((text) =>
    quoted([escapeFormulas && FORMULA.test(text) ? `'${text}` : text]).slice(0, -1),
  )
  const isSafe = (text: string) => !escapeFormulas || CALM[text.charCodeAt(0)] !== 0
  const text: AppendCell = (to, cell) => {
    const text = cell as string
    if (text === '' && quoteEmpty) appendPlain(to, '""', ASCII)
    else if (!(isSafe(text) && appendPlain(to, text, PLAIN))) appendQuoted(to, rememberQuoted(text))
  }
  const appendQuoted = (to: ByteText, quoted: string) => {
    if (!appendPlain(to, quoted, ASCII)) appendText(to, quoted)
  }
  const number: AppendCell = (to, cell) => {
    if (Number.isSafeInteger(cell) && (cell as number) >= 0) appendWhole(to, cell as number)
    else appendPlain(to, String(cell), PLAIN)
  }
  const toIso = isoTimes()
  const time: AppendCell = (to, cell) => {
    appendPlain(to, toIso(Number(cell)), PLAIN)
  }
  const numbers = { int32: number, int64: number, u256: number, i256: number, decimal: number }
  return { text, time, bool: number, ...numbers }
}

const DAY_MS = 86_400_000

/** ISO text of instants in milliseconds since 1970; of many in one day the date is worked out once. */
function isoTimes(): (ms: number) => string {
  let day = Number.NaN
  let date = ''
  return (ms) => {
    const today = Math.floor(ms / DAY_MS)
    if (today !== day) date = new Date(today * DAY_MS).toISOString().slice(0, 11)
    day = today
    const [second, rest] = [Math.floor((ms - day * DAY_MS) / 1000), ms % 1000]
    const clock = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`
    return `${date}${clock}.${String(rest).padStart(3, '0')}Z`
  }
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'))
const two = (value: number) => TWO_DIGITS[value]

/** Appends the first cells of a row; those of a transaction's rows are the same ones and are made once. */
function prefixOf(cells: Record<Column['type'], AppendCell>): AppendPrefix {
  const made = newByteText()
  const appends = PREFIX.map(({ type }) => cells[type])
  let last: Row = []
  let bytes = made.bytes.subarray(0, 0)
  return (to, row) => {
    if (!sharesPrefix(row, last)) {
      made.end = 0
      appendCells(made, row, { appends, from: 0, until: PREFIX.length })
      bytes = made.bytes.subarray(0, made.end)
      last = row
    }
    appendBytes(to, bytes)
  }
}

function sharesPrefix(row: Row, other: Row): boolean {
  for (let at = 0; at < PREFIX.length; at += 1) if (row[at] !== other[at]) return false
  return true
}

/** By code of an ASCII character: 0 where it is one of these. */
function allBut(special: string): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(!special.includes(String.fromCharCode(code))))
}

const ASCII = allBut('')
const PLAIN = allBut('",\r\n')
/** What a spreadsheet takes for the start of a formula, and the `'` that is put before it. */
const CALM = allBut("=+-@\t\r'")
/** A `'` that stood before a formula gets another one: whoever takes one away has the text as it was. */
const FORMULA = /^'*[=+\-@\t\r]/

function quoted(cells: readonly (string | null)[]): string {
  return stringify([cells as string[]], { record_delimiter: '\n', quoted_match: ALSO_QUOTED })
}

/**
 * A carriage return is quoted as RFC 4180 asks; csv-stringify by itself looks for the record delimiter only. A byte order
 * mark is, lest a reader take it for the file's.
 */
const ALSO_QUOTED = /\r|^\ufeff/

/** Cells that need quotes are few and come again and again (signatures of methods). */
function remembered(make: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const made = known.get(text) ?? make(text)
    if (text.length < 200 && known.size < 2_000) known.set(text, made)
    return made
  }
}
