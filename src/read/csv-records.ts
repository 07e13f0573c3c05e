import { parse } from 'csv-parse'
import { parse as parseText } from 'csv-parse/sync'
import { ExportError } from '../core/model/errors.ts'
import { suggest } from '../core/model/suggest.ts'
import { openUserFile } from '../core/platform/open-user-file.ts'
import { inputError } from '../core/platform/user-file.ts'

/** A record of a CSV file, with cells by column name. */
export type CsvRecord = {
  /** Number of its last line, starting at 1. */
  line: number
  cells: Readonly<Record<string, string>>
  /** USAGE error about the record. */
  error(found: string, expected: string): ExportError
  /** Throws that error, with the text of the cell, unless the cell of a column is valid. */
  expect(column: string, isValid: boolean, expected: string): void
}

type RecordOptions = {
  /** All columns that the file may have. @default any */
  columns?: readonly string[]
  /** Whether blanks around cells are removed. @default false */
  isTrimmed?: boolean
  /** Whether records are kept in memory, so that their number is limited. @default false */
  isKept?: boolean
}

/**
 * Reads a user's CSV file (RFC 4180, UTF-8, with or without byte order mark) record by record. Columns are
 * matched by name, in any order, and empty lines are skipped. Throws USAGE, with the line, if the file is not
 * valid CSV, is separated by semicolons, lacks one of `requiredColumns`, has an unknown column or two of one name, has a record
 * with another number of cells than the header or too many records, or cannot be read.
 */
export async function readRecords(
  file: string,
  requiredColumns: readonly string[],
  onRecord: (record: CsvRecord) => void,
  { columns, isTrimmed = false, isKept = false }: RecordOptions = {},
): Promise<void> {
  let header: readonly string[] | undefined
  await readRawRecords(file, ({ line, cells: texts }) => {
    const { length } = texts
    if (header === undefined) {
      header = requireColumns(texts, file, requiredColumns)
      return
    }
    const error = (found: string, expected: string) => recordError(file, line, found, expected)
    if (length !== header.length)
      throw error(
        length === 1 ? 'one cell' : `${length} cells`,
        `${header.length} as in the header${length > header.length ? ' (decimals need a point, and a cell with a comma needs quotes)' : ''}`,
      )
    if (isKept && line > MAX_KEPT_LINES)
      throw error('more lines', `at most ${MAX_KEPT_LINES}: leave out what the export does not contain`)
    const unknown = columns && header.find((name) => name !== '' && !columns.includes(name))
    if (unknown !== undefined) throw error(`column ${unknown}`, `columns ${columns?.join(', ')}`)
    const cells = Object.fromEntries(
      header.map((name, at) => [name, (isTrimmed ? texts[at]?.trim() : texts[at]) ?? '']),
    )
    const expect: CsvRecord['expect'] = (column, isValid, expected) => {
      if (!isValid) throw error(`${column} ${cells[column] || 'empty'}`, expected)
    }
    onRecord({ line, cells, error, expect })
  })
  requireColumns(header ?? [], file, requiredColumns)
}

/** Returns the cells of valid CSV text, by row. */
export const parseCsv = (text: string): string[][] => parseText(text)

/**
 * Reads all rows of a CSV file including the header, whatever their number of cells. Throws like
 * `readRecords`.
 */
export async function readRawRecords(
  file: string,
  onRow: (row: { line: number; cells: readonly string[] }) => void,
): Promise<void> {
  const source = await openUserFile(file, CSV_FIX)
  const parser = source.pipe(
    parse({ bom: true, skip_empty_lines: true, info: true, relax_column_count: true }),
  )
  source.on('error', (cause) => parser.destroy(cause))
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>)
      onRow({ line: info.lines, cells: record })
  } catch (error) {
    throw error instanceof ExportError ? error : toRecordError(file, error)
  } finally {
    source.destroy()
  }
}

const CSV_FIX = 'Name a CSV file.'

type Parsed = { record: string[]; info: { lines: number } }

function requireColumns(
  header: readonly string[],
  file: string,
  requiredColumns: readonly string[],
): readonly string[] {
  const names = header.map((name) => name.trim())
  const missing = requiredColumns.filter((name) => !names.includes(name))
  const repeated = names.find((name, at) => name !== '' && names.indexOf(name) !== at)
  if (repeated !== undefined) throw recordError(file, 1, `two columns ${repeated}`, 'each name once')
  if (missing.length === 0) return names
  if (names.some((name) => name.includes(';'))) throw semicolonError(file, 1)
  const found = names.length === 0 ? 'nothing' : `no column ${missing.join(', ')}`
  const expected = `a header with ${requiredColumns.join(', ')}`
  const others = names.filter((name) => !requiredColumns.includes(name))
  // A file that lacks most columns is another file, not one with a misspelt header.
  const isOtherFile = missing.length > 1 && 2 * missing.length > requiredColumns.length
  const hint = isOtherFile ? '' : columnHint(missing, others)
  throw recordError(file, 1, found, `${expected}${hint}`)
}

/** Names the missing column that another column most likely is. */
function columnHint(missing: readonly string[], others: readonly string[]): string {
  for (const other of others) {
    const name = suggest(other, missing)
    if (name !== undefined) return ` (did you mean ${name} instead of ${other}?)`
  }
  return ''
}

/** Some spreadsheets, such as a German Excel, save CSV with semicolons. */
function semicolonError(file: string, line: number): ExportError {
  return new ExportError('USAGE', `${file}:${line}: found semicolons between the cells, expected commas`, {
    fix: 'Save the file with commas between its cells and decimal points in numbers, then run the same command again.',
  })
}

/** Maximum number of lines of a user's file whose records are kept in memory: about 1 kB each. */
const MAX_KEPT_LINES = 250_000

/** USAGE error for an invalid record of a file. */
export function recordError(file: string, line: number, found: string, expected: string): ExportError {
  return new ExportError('USAGE', `${file}:${line}: found ${found}, expected ${expected}`, {
    fix: 'Correct the line, then run the same command again.',
  })
}

/** Message of csv-parse for a semicolon after a quoted cell. */
const AFTER_QUOTE = /^Invalid Closing Quote: got ";"/

function toRecordError(file: string, cause: unknown): ExportError {
  const { message, lines } = cause as Error & { lines?: number }
  if (lines === undefined) return inputError(file, cause, CSV_FIX)
  if (AFTER_QUOTE.test(message)) return semicolonError(file, lines)
  const reason = message.charAt(0).toLowerCase() + message.slice(1)
  return recordError(file, lines, reason, 'CSV: a comma between cells, quotes closed')
}
