import { type Column, col } from '../core/table/column.ts'
import type { NamedTable } from './ddl/create-table.ts'
import type { LoadRecord } from './target.ts'

const COLUMNS = {
  outputId: col('output_id text', 'Stable id of the output: from its name and chain.'),
  job: col('job text', 'Name of the output: its job, or what --source says.'),
  chainId: col('chain_id text', 'Chain id that rows of the file carry; a JSON list where there are several.'),
  table: col('table_name text', 'Table that the rows are in.'),
  path: col('path text', 'File of the output.'),
  sha256: col('sha256 text', 'SHA-256 of the file.'),
  fromBlock: col('from_block int64', 'First block that the file covers.'),
  toBlock: col('to_block int64', 'The block after the last one that the file covers.'),
  rows: col('row_count int64', 'Rows of the file.'),
  loadedAt: col('loaded_at time', 'When the file was loaded.'),
  location: col('location text', 'Where the output was loaded from.'),
  addressesSha256: col('addresses_sha256 text', "SHA-256 of the job's wallets."),
  startBlock: col('start_block int64', 'First block of the job.'),
} as const satisfies Record<keyof LoadRecord, Column>

/** The table that records which files were loaded into the target: one row per file. */
export const LOADS_TABLE: NamedTable = {
  name: 'walletlake_loads',
  about: 'One row per file that walletlake load has loaded into this database.',
  key: ['output_id', 'table_name', 'path'],
  columns: Object.values(COLUMNS),
}

/** Returns a record's cells in the order of the table's columns. */
export function recordCells(record: LoadRecord): (string | number)[] {
  return Object.keys(COLUMNS).map((field) => record[field as keyof LoadRecord])
}

/** Parses a row from an engine's driver: integers may be numbers, bigints or text, times a Date or text. */
export function parseLoadRecord(row: Readonly<Record<string, unknown>>): LoadRecord {
  const entries = Object.entries(COLUMNS).map(([field, { name, type }]) => {
    const cell = row[name]
    if (type === 'int64') return [field, Number(cell)]
    if (type === 'time') return [field, cell instanceof Date ? cell.toISOString() : String(cell)]
    return [field, String(cell)]
  })
  return Object.fromEntries(entries) as LoadRecord
}
