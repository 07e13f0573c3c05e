import { createHash } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { BucketLocation } from '../../src/core/model/model.ts'
import type { TableName } from '../../src/core/table/index.ts'
import { openBucket } from '../../src/storage/bucket.ts'
import { fetchExport } from '../../src/storage/fetch-export.ts'
import { readManifest } from './read-output.ts'
import { tempFolder } from './temp-folder.ts'

/** Turns an export into one of an earlier version without this column: files, sizes, hashes and manifest. */
export async function dropColumn(folder: string, table: TableName, column: string): Promise<void> {
  const manifest = readManifest(folder)
  const listed = manifest.tables[table]
  if (listed === undefined) throw new Error(`the export has no table ${table}`)
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  for (const file of listed.files) {
    const path = join(folder, file.path)
    const rewritten = `${path}.rewritten`
    await connection.run(copyWithout(column, { from: path, to: rewritten }))
    renameSync(rewritten, path)
    file.bytes = statSync(path).size
    file.sha256 = createHash('sha256').update(readFileSync(path)).digest('hex')
  }
  connection.closeSync()
  instance.closeSync()
  listed.columns = listed.columns.filter(({ name }) => name !== column)
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** `dropColumn` for an export in an object store. */
export async function dropColumnInBucket(
  location: BucketLocation,
  table: TableName,
  column: string,
): Promise<void> {
  const copy = tempFolder()
  await fetchExport(location, copy)
  await dropColumn(copy, table, column)
  const bucket = await openBucket(location)
  for (const { path } of readManifest(copy).tables[table]?.files ?? [])
    await bucket.putFile(path, join(copy, path))
  await bucket.putText('manifest.json', readFileSync(join(copy, 'manifest.json'), 'utf8'))
  bucket.close()
}

function copyWithout(column: string, { from, to }: { from: string; to: string }): string {
  if (from.endsWith('.parquet'))
    return `COPY (SELECT * EXCLUDE ("${column}") FROM read_parquet('${from}', hive_partitioning = false)) TO '${to}' (FORMAT parquet)`
  const compression = from.endsWith('.gz') ? ', COMPRESSION gzip' : ''
  return `COPY (SELECT * EXCLUDE ("${column}") FROM read_csv('${from}', all_varchar = true, header = true))
    TO '${to}' (FORMAT csv, HEADER${compression})`
}
