import { DAY_MS } from '../core/model/utc.ts'
import type { ByteText } from '../core/platform/byte-text.ts'
import { isFormula, needsQuotes, quoteCsv } from '../core/platform/csv-text.ts'
import { type Cell, type Column, PREFIX } from '../core/table/column.ts'
import type { Prefix } from '../core/table/row-types.ts'

export type CsvOptions = {
  /** Put a `'` before text that a spreadsheet would run as a formula. */
  escapeFormulas: boolean
  /** Write empty text as `""`, which our Parquet is made from: there it is not null. */
  quoteEmpty: boolean
}

/** Makes the lines of all tables alike. */
export type Csv = {
  /** What all lines of a transaction begin with: it is made once. */
  prefixOf(prefix: Prefix): ByteText
  /** Lines of a table with these columns. */
  linesOf(columns: readonly Column[]): CsvLines
}

/** Lines of one table, waiting to be written. */
export type CsvLines = {
  /** `cells` by column, text as bytes; `prefix` stands for the columns that all tables have. Gives the line's bytes. */
  add(cells: CellsByColumn, prefix?: ByteText): number
  /** Makes room for lines that are made already, and has it filled with them. */
  fill(lines: Omit<Lines, 'bytes'> & { bytes: number }, fillRoom: (room: Buffer) => void): void
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

type CellsByColumn = Readonly<Record<string, Cell>>

/** The header row, with its line end. */
export function csvHeader(columns: readonly Column[]): string {
  return `${columns.map(({ name }) => name).join(',')}\n`
}

/**
 * Turns rows into CSV lines (CONTRACT section 3.2): RFC 4180 quoting, `\n`, null as an empty field. Columns are turned to
 * text by their type, so that numbers are never escaped and never rounded.
 */
export function createCsv(options: CsvOptions): Csv {
  const makers = { text: textMaker(options), time: timeMaker() }
  const shared = new Set<Column>(PREFIX)
  const prefix = makersOf(PREFIX, makers)
  return {
    prefixOf: (cells) => joinCells(cells, prefix, []),
    linesOf: (columns) =>
      linesOf(
        makersOf(
          columns.filter((column) => !shared.has(column)),
          makers,
        ),
      ),
  }
}

/** Text of a cell that is not null. */
type MakeText = (cell: Cell) => ByteText
/** Without `make` a column's cells are what they are as text. */
type CellMaker = { name: string; make: MakeText | undefined }

function makersOf(
  columns: readonly Column[],
  { text, time }: Record<'text' | 'time', MakeText>,
): readonly CellMaker[] {
  return columns.map(({ name, type, isOurs = false }) => ({
    name,
    make: type === 'time' ? time : type === 'text' && !isOurs ? text : undefined,
  }))
}

/** Appends the cells to `texts` and joins all of them; null is nothing. */
function joinCells(cells: CellsByColumn, makers: readonly CellMaker[], texts: Cell[]): ByteText {
  for (let at = 0; at < makers.length; at += 1) {
    const { name, make } = makers[at] as CellMaker
    const cell = cells[name] ?? null
    texts.push(cell === null || make === undefined ? cell : make(cell))
  }
  return texts.join(',')
}

/** Lines begin to wait in so much room. */
const FIRST_BYTES = 1 << 18

function linesOf(makers: readonly CellMaker[]): CsvLines {
  let room = Buffer.allocUnsafeSlow(FIRST_BYTES)
  let end = 0
  let rows = 0
  let longest = 0
  /** Takes room for so many bytes; gives where it begins. */
  const take = (bytes: number) => {
    if (end + bytes > room.length) room = largerThan(room, end + bytes)
    end += bytes
    return end - bytes
  }
  return {
    add: (cells, prefix) => {
      const line = joinCells(cells, makers, prefix === undefined ? [] : [prefix])
      const bytes = line.length + 1
      const at = take(bytes)
      room.write(line, at, 'latin1')
      room[end - 1] = LINE_FEED
      rows += 1
      if (bytes > longest) longest = bytes
      return bytes
    },
    fill: (lines, fillRoom) => {
      const at = take(lines.bytes)
      fillRoom(room.subarray(at, end))
      rows += lines.rows
      longest = Math.max(longest, lines.longest)
    },
    size: () => end,
    take: () => {
      const taken = { bytes: room.subarray(0, end), rows, longest }
      end = 0
      rows = 0
      longest = 0
      return taken
    },
  }
}

const LINE_FEED = 10

/** The same bytes with room for so many and more. */
function largerThan(room: Buffer<ArrayBuffer>, bytes: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(2 * bytes)
  room.copy(larger)
  return larger
}

/** ISO text of instants in milliseconds since 1970; of many in one day the date is worked out once. */
function timeMaker(): MakeText {
  let day = Number.NaN
  let date = ''
  return (cell) => {
    const ms = Number(cell)
    const today = Math.floor(ms / DAY_MS)
    if (today !== day) date = new Date(today * DAY_MS).toISOString().slice(0, 11)
    day = today
    const second = Math.floor((ms - day * DAY_MS) / 1000)
    const rest = ms % 1000
    const clock = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`
    return `${date}${clock}.${String(rest).padStart(3, '0')}Z`
  }
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'))
const two = (value: number) => TWO_DIGITS[value]

/** A byte order mark, quoted lest a reader take it for the file's. */
const MARK = '\xef\xbb\xbf'

function textMaker({ escapeFormulas, quoteEmpty }: CsvOptions): MakeText {
  return (cell) => {
    const text = cell as ByteText
    if (text === '') return quoteEmpty ? '""' : ''
    const safe = escapeFormulas && isFormula(text) ? `'${text}` : text
    return needsQuotes(safe) || safe.startsWith(MARK) ? quoteCsv(safe) : safe
  }
}
