import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { parse } from 'csv-parse'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import type { Manifest } from '../../src/core/model/manifest.ts'
import type { TableName } from '../../src/core/table/index.ts'

export type TextRow = Record<string, string>

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
}

/** Rows of a CSV table, in file order, by an independent parser. null is an empty string. */
export async function readCsvTable(folder: string, table: TableName): Promise<TextRow[]> {
  const rows: TextRow[] = []
  for (const path of filesOf(folder, table)) {
    const file = createReadStream(join(folder, path))
    const text = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
    for await (const row of text.pipe(parse({ columns: true, bom: false }))) rows.push(row as TextRow)
  }
  return rows
}

/** Rows of a Parquet table, in file order, by an independent reader, with the texts that CSV would have. */
export async function readParquetTable(folder: string, table: TableName): Promise<TextRow[]> {
  const rows: TextRow[] = []
  for (const path of filesOf(folder, table)) {
    const file = await asyncBufferFromFile(join(folder, path))
    for (const row of await parquetReadObjects({ file, compressors, utf8: true }))
      rows.push(Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asText(value)])))
  }
  return rows
}

const filesOf = (folder: string, table: TableName) =>
  (readManifest(folder).tables[table]?.files ?? []).map(({ path }) => path)

function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return value instanceof Date ? value.toISOString() : String(value)
}
