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
}

/**
 * Reads a user's CSV file (RFC 4180, UTF-8, with or without byte order mark) record by record. Columns are
 * matched by name, in any order, and empty lines are skipped. Throws USAGE, with the line, if the file is not
 * valid CSV, is separated by semicolons, lacks one of `requiredColumns`, has two columns of one name, has a record with another number of
 * cells than the header, or cannot be read.
 */
export async function readRecords(
  file: string,
  requiredColumns: readonly string[],
  onRecord: (record: CsvRecord) => void,
): Promise<void> {
  let header: readonly string[] | undefined
  await readRawRecords(file, ({ line, cells }) => {
    if (header === undefined) header = requireColumns(cells, { file, requiredColumns })
    else if (cells.length === header.length) onRecord({ line, cells: cellsByName(header, cells) })
    else
      throw recordError(
        { file, line },
        {
          found: cells.length === 1 ? 'one cell' : `${cells.length} cells`,
          expected: `${header.length} as in the header${cells.length > header.length ? ' (decimals need a point, and a cell with a comma needs quotes)' : ''}`,
        },
      )
  })
  requireColumns(header ?? [], { file, requiredColumns })
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
  } catch (thrown) {
    throw thrown instanceof ExportError ? thrown : toRecordError(file, thrown)
  } finally {
    source.destroy()
  }
}

const CSV_FIX = 'Name a CSV file.'

type Parsed = { record: string[]; info: { lines: number } }

function cellsByName(header: readonly string[], record: readonly string[]): Record<string, string> {
  return Object.fromEntries(header.map((name, at) => [name, record[at] ?? '']))
}

function requireColumns(
  header: readonly string[],
  { file, requiredColumns }: { file: string; requiredColumns: readonly string[] },
): readonly string[] {
  const names = header.map((name) => name.trim())
  const missing = requiredColumns.filter((name) => !names.includes(name))
  const repeated = names.find((name, at) => name !== '' && names.indexOf(name) !== at)
  if (repeated !== undefined)
    throw recordError({ file, line: 1 }, { found: `two columns ${repeated}`, expected: 'each name once' })
  if (missing.length === 0) return names
  if (names.some((name) => name.includes(';'))) throw semicolonError({ file, line: 1 })
  const found = names.length === 0 ? 'nothing' : `no column ${missing.join(', ')}`
  const expected = `a header with ${requiredColumns.join(', ')}`
  const others = names.filter((name) => !requiredColumns.includes(name))
  // A file that lacks most columns is another file, not one with a misspelt header.
  const isOtherFile = missing.length > 1 && 2 * missing.length > requiredColumns.length
  const hint = isOtherFile ? '' : columnHint(missing, others)
  throw recordError({ file, line: 1 }, { found, expected: `${expected}${hint}` })
}

/** Names the missing column that another column most likely is. */
function columnHint(missing: readonly string[], others: readonly string[]): string {
  for (const other of others) {
    const name = suggest(other, missing)
    if (name !== undefined) return ` (did you mean ${name} instead of ${other}?)`
  }
  return ''
}

type LineLocation = { file: string; line: number }

/** Some spreadsheets, such as a German Excel, save CSV with semicolons. */
function semicolonError({ file, line }: LineLocation): ExportError {
  return new ExportError('USAGE', `${file}:${line}: found semicolons between the cells, expected commas`, {
    fix: 'Save the file with commas between its cells and decimal points in numbers, then run the same command again.',
  })
}

/** Maximum number of lines of a user's file whose records are kept in memory: about 1 kB each. */
const MAX_KEPT_LINES = 250_000

/** Throws USAGE for a line beyond the maximum of a file that is kept in memory. */
export function requireKeptLine(location: LineLocation): void {
  if (location.line <= MAX_KEPT_LINES) return
  const expected = `at most ${MAX_KEPT_LINES}: leave out what the export does not contain`
  throw recordError(location, { found: 'more lines', expected })
}

/** USAGE error for an invalid record of a file. */
export function recordError(
  { file, line }: LineLocation,
  { found, expected }: { found: string; expected: string },
): ExportError {
  return new ExportError('USAGE', `${file}:${line}: found ${found}, expected ${expected}`, {
    fix: 'Correct the line, then run the same command again.',
  })
}

/** Message of csv-parse for a semicolon after a quoted cell. */
const AFTER_QUOTE = /^Invalid Closing Quote: got ";"/

function toRecordError(file: string, thrown: unknown): ExportError {
  const { message, lines } = thrown as Error & { lines?: number }
  if (lines === undefined) return inputError(file, thrown, CSV_FIX)
  if (AFTER_QUOTE.test(message)) return semicolonError({ file, line: lines })
  const reason = message.charAt(0).toLowerCase() + message.slice(1)
  return recordError(
    { file, line: lines },
    { found: reason, expected: 'CSV: a comma between cells, quotes closed' },
  )
}
