import { stringify } from 'csv-stringify/sync'
import type { Cell, Column, Row, Table } from '../table/index.ts'
import { openHashedFile, type PartWriter } from './part-file.ts'

export type CsvOptions = {
  path: string
  table: Table
  gzip: boolean
  /** Put a `'` before text that a spreadsheet would run as a formula. */
  escapeFormulas: boolean
}

/**
 * Writes a table as CSV (CONTRACT section 3): UTF-8, no BOM, RFC 4180 quoting, `\n`, header row, null as an empty field.
 * Columns are turned to text by their type, so that numbers are never escaped and never rounded.
 */
export function openCsv({ path, table, gzip, escapeFormulas }: CsvOptions): PartWriter {
  const file = openHashedFile(path, { gzip })
  const toText = table.columns.map((column) => cellWriter(column, escapeFormulas))
  const toLines = (rows: readonly (readonly Cell[])[]) =>
    stringify(rows as Cell[][], { record_delimiter: '\n', quoted_match: CARRIAGE_RETURN })
  let started = false
  const start = async () => {
    started = true
    await file.write(toLines([table.columns.map(({ name }) => name)]))
  }
  return {
    write: async (rows) => {
      if (!started) await start()
      await file.write(toLines(rows.map((row) => textRow(row, toText))))
    },
    finish: async () => {
      if (!started) await start()
      return file.finish()
    },
    abandon: () => file.abandon(),
  }
}

type CellWriter = (cell: Cell) => string | null

function textRow(row: Row, toText: readonly CellWriter[]): (string | null)[] {
  return row.map((cell, at) => (cell === null ? null : (toText[at]?.(cell) ?? null)))
}

function cellWriter({ type }: Column, escapeFormulas: boolean): CellWriter {
  if (type === 'time') return (cell) => new Date(Number(cell)).toISOString()
  if (type === 'text' && escapeFormulas) return (cell) => escapeFormula(String(cell))
  return String
}

function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Quoted as RFC 4180 asks; csv-stringify by itself looks for the record delimiter only. */
const CARRIAGE_RETURN = /\r/

const FORMULA = /^[=+\-@\t\r]/
