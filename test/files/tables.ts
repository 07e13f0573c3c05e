import { toBytes } from '../../src/core/platform/byte-text.ts'
import { type Cell, col } from '../../src/core/table/column.ts'
import type { Table } from '../../src/core/table/index.ts'
import { createCsvFormatter } from '../../src/formats/csv-lines.ts'

/** A table with one nullable column of each type. */
export const SAMPLE: Table = {
  name: 'ledger',
  about: 'One row per sample.',
  key: ['name'],
  columns: [
    col('name text?', 'Text.'),
    col('small int32?', 'Whole number of 32 bits.'),
    col('wide int64?', 'Whole number of 64 bits.'),
    col('yes bool?', 'True or false.'),
    col('at time?', 'Instant.'),
    col('huge u256?', 'Whole number of 256 bits.'),
    col('signed i256?', 'The same, signed.'),
    col('exact decimal?', 'Decimal number.'),
  ],
}

/** Cells by column. Text is an ordinary string, not a byte string. */
export type Row = Readonly<Record<string, Cell>>

/** A row of the sample table. Missing cells are null. */
export const sample = (cells: Row): Row => cells

/** Converts the text of a row to byte strings, which the line formatter expects. */
export function inBytes(row: Row): Row {
  const cells = Object.entries(row).map(([name, cell]) => [
    name,
    typeof cell === 'string' ? toBytes(cell) : cell,
  ])
  return Object.fromEntries(cells)
}

export const MAX_U256 = String(2n ** 256n - 1n)

/** Formats rows of the sample table as CSV lines. */
export function linesOf(rows: readonly Row[], { escapeFormulas = true, quoteEmpty = false } = {}) {
  const lines = createCsvFormatter({ escapeFormulas, quoteEmpty }).createLineBuffer(SAMPLE.columns)
  for (const row of rows) lines.add(inBytes(row))
  const { bytes, ...counted } = lines.drain()
  return { text: Buffer.from(bytes).toString(), ...counted }
}

export const textOf = (rows: readonly Row[]): string => linesOf(rows).text
