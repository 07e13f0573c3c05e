import { type Cell, col, type Row, type Table } from '../../src/core/table/column.ts'
import { csvMaker } from '../../src/write/csv.ts'

/** A table with one column of each type, each of which may be null. */
export const SAMPLE: Table = {
  name: 'ledger',
  about: 'One row a sample.',
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

/** A row of the sample table; cells that are not named are null. */
export function sample(cells: Record<string, Cell>): Row {
  return SAMPLE.columns.map(({ name }) => cells[name] ?? null)
}

export const MAX_U256 = String(2n ** 256n - 1n)

/** Rows of the sample table as CSV lines. */
export function linesOf(rows: readonly Row[], { escapeFormulas = true, quoteEmpty = false } = {}) {
  const lines = csvMaker({ escapeFormulas, quoteEmpty })(SAMPLE.columns)
  for (const row of rows) lines.add(row)
  const { bytes, ...counted } = lines.take()
  return { text: Buffer.from(bytes).toString(), ...counted }
}

export const textOf = (rows: readonly Row[]): string => linesOf(rows).text
