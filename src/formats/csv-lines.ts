import { DAY_MS } from '../core/model/utc.ts'
import type { ByteText } from '../core/platform/byte-text.ts'
import { isFormula, needsQuotes, quoteCsv } from '../core/platform/csv-text.ts'
import { type Cell, type Column, PREFIX } from '../core/table/column.ts'
import type { Prefix } from '../core/table/row-types.ts'

export type CsvOptions = {
  /** Put a `'` before text that a spreadsheet would run as a formula. */
  escapeFormulas: boolean
  /** Write empty text as `""`. Needed for lines that DuckDB converts to Parquet: it reads an unquoted empty field as null. */
  quoteEmpty: boolean
}

/** Formats the lines of all tables with the same options. */
export type CsvFormatter = {
  /** Formats the cells with which all lines of a transaction start, so that this is done once per transaction. */
  formatPrefix(prefix: Prefix): ByteText
  /** Creates a buffer for the lines of a table with these columns. */
  createLineBuffer(columns: readonly Column[]): LineBuffer
}

/** Buffered lines of one table. */
export type LineBuffer = {
  /**
   * Adds a row and returns the length of its line in bytes. Text cells are byte strings. `prefix` is the result of
   * `formatPrefix`.
   */
  add(cells: CellsByColumn, prefix?: ByteText): number
  /** Reserves space for formatted lines and passes it to `fillBuffer`, which must fill it. */
  fill(lines: Omit<BufferedLines, 'bytes'> & { bytes: number }, fillBuffer: (buffer: Buffer) => void): void
  /** Number of buffered bytes. */
  size(): number
  /** Returns the buffered lines and empties the buffer. The bytes are valid until the next row is added. */
  drain(): BufferedLines
}

export type BufferedLines = {
  bytes: Uint8Array
  rows: number
  /** Bytes of the longest line. */
  maxLineBytes: number
}

type CellsByColumn = Readonly<Record<string, Cell>>

/** Returns the header row without its line feed. */
export function csvHeader(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(',')
}

/**
 * Creates a formatter of CSV lines (CONTRACT section 3.2): RFC 4180 quoting, `\n`, null as an empty field. Cells are
 * formatted by the type of their column, so that numbers are never escaped or rounded.
 */
export function createCsvFormatter(options: CsvOptions): CsvFormatter {
  const formatters = { text: () => createTextFormatter(options), time: createTimeFormatter }
  const prefixColumns = new Set<Column>(PREFIX)
  const prefix = formattersOf(PREFIX, formatters)
  return {
    formatPrefix: (cells) => joinCells(cells, prefix),
    createLineBuffer: (columns) =>
      createLineBuffer(
        formattersOf(
          columns.filter((column) => !prefixColumns.has(column)),
          formatters,
        ),
      ),
  }
}

/** Formats a cell that is not null. */
type FormatText = (cell: Cell) => ByteText
/** Formatter of a column. Without `format`, cells are converted to text as they are. */
type CellFormatter = { name: string; format: FormatText | undefined }

function formattersOf(
  columns: readonly Column[],
  { text, time }: Record<'text' | 'time', () => FormatText>,
): readonly CellFormatter[] {
  return columns.map(({ name, type, isGenerated = false }) => ({
    name,
    format: type === 'time' ? time() : type === 'text' && !isGenerated ? text() : undefined,
  }))
}

/** Joins the cells with commas, after those of `prefix` if there is one. Null becomes an empty field. */
function joinCells(cells: CellsByColumn, formatters: readonly CellFormatter[], prefix?: ByteText): ByteText {
  let line = prefix
  for (let at = 0; at < formatters.length; at += 1) {
    const { name, format } = formatters[at] as CellFormatter
    const cell = cells[name]
    const text = cell === null || cell === undefined ? '' : format === undefined ? cell : format(cell)
    line = line === undefined ? `${text}` : `${line},${text}`
  }
  return line ?? ''
}

/** Initial size of a line buffer. */
const INITIAL_BYTES = 1 << 18

function createLineBuffer(formatters: readonly CellFormatter[]): LineBuffer {
  let buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  let end = 0
  let rows = 0
  let maxLineBytes = 0
  /** Reserves space and returns its offset. */
  const reserve = (bytes: number) => {
    if (end + bytes > buffer.length) buffer = growBuffer(buffer, end + bytes)
    end += bytes
    return end - bytes
  }
  return {
    add: (cells, prefix) => {
      const line = joinCells(cells, formatters, prefix)
      const bytes = line.length + 1
      const at = reserve(bytes)
      buffer.write(line, at, 'latin1')
      buffer[end - 1] = LINE_FEED
      rows += 1
      if (bytes > maxLineBytes) maxLineBytes = bytes
      return bytes
    },
    fill: (lines, fillBuffer) => {
      const at = reserve(lines.bytes)
      fillBuffer(buffer.subarray(at, end))
      rows += lines.rows
      maxLineBytes = Math.max(maxLineBytes, lines.maxLineBytes)
    },
    size: () => end,
    drain: () => {
      const drained = { bytes: buffer.subarray(0, end), rows, maxLineBytes }
      end = 0
      rows = 0
      maxLineBytes = 0
      return drained
    },
  }
}

const LINE_FEED = 10

/** Copies a buffer into a larger one with space for at least `bytes`. */
function growBuffer(buffer: Buffer<ArrayBuffer>, bytes: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(2 * bytes)
  buffer.copy(larger)
  return larger
}

/** Formats milliseconds since 1970 as ISO 8601. The date is computed once for consecutive times of the same day. */
function createTimeFormatter(): FormatText {
  let day = Number.NaN
  let date = ''
  return (cell) => {
    const ms = Number(cell)
    const cellDay = Math.floor(ms / DAY_MS)
    if (cellDay !== day) date = new Date(cellDay * DAY_MS).toISOString().slice(0, 11)
    day = cellDay
    const second = Math.floor((ms - day * DAY_MS) / 1000)
    const milliseconds = ms % 1000
    const clock = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`
    return `${date}${clock}.${String(milliseconds).padStart(3, '0')}Z`
  }
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'))
const two = (value: number) => TWO_DIGITS[value]

/** Text that starts with a byte order mark is quoted. At the start of a file, readers would remove it. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf'

/** Formats the cells of one column. Consecutive rows often have the same text, which is formatted once. */
function createTextFormatter(options: CsvOptions): FormatText {
  let [last, formatted] = ['', formatText('', options)]
  return (cell) => {
    if (cell === last) return formatted
    last = cell as ByteText
    formatted = formatText(last, options)
    return formatted
  }
}

function formatText(text: ByteText, { escapeFormulas, quoteEmpty }: CsvOptions): ByteText {
  if (text === '') return quoteEmpty ? '""' : ''
  const escaped = escapeFormulas && isFormula(text) ? `'${text}` : text
  return needsQuotes(escaped) || escaped.startsWith(BYTE_ORDER_MARK) ? quoteCsv(escaped) : escaped
}
