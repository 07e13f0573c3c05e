import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { parse } from 'csv-parse'
import type { Manifest } from '../../src/manifest.ts'
import type { TableName } from '../../src/table/index.ts'

export type TextRow = Record<string, string>

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
}

/** Rows of a CSV table by the independent parser, in file order; null is the empty text. */
export async function readCsvTable(folder: string, table: TableName): Promise<TextRow[]> {
  const rows: TextRow[] = []
  for (const { path } of readManifest(folder).tables[table]?.files ?? []) {
    const file = createReadStream(join(folder, path))
    const text = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
    for await (const row of text.pipe(parse({ columns: true, bom: false }))) rows.push(row as TextRow)
  }
  return rows
}
