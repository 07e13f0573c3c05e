import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { beforeAll, describe, expect, test } from 'vitest'
import { ATOMIC_TABLE, TABLES, type Table } from '../../src/core/table/index.ts'
import { run } from '../../src/export/run.ts'
import { testJob } from '../helpers/jobs.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { readCsvTable, readManifest, readParquetTable } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folders = { csv: suiteFolder(), parquet: suiteFolder() }

beforeAll(async () => {
  for (const format of ['csv', 'parquet'] as const) {
    const output = folders[format]
    const job = testJob({ addresses: demoWallets.slice(0, 12), output, format, escapeFormulas: false })
    expect((await run([job])).code).toBeUndefined()
  }
})

async function parquetFile(table: Table) {
  const [file] = readManifest(folders.parquet).tables[table.name]?.files ?? []
  return asyncBufferFromFile(join(folders.parquet, file?.path ?? ''))
}

const PHYSICAL: Record<string, string> = { int32: 'INT32', int64: 'INT64', bool: 'BOOLEAN', time: 'INT64' }

describe.for(TABLES.filter(({ name }) => name !== ATOMIC_TABLE))('the table $name', (table) => {
  test('contains the same values in CSV and Parquet, read by independent readers', async () => {
    const csv = await readCsvTable(folders.csv, table.name)
    const parquet = await readParquetTable(folders.parquet, table.name)
    expect(csv.length).toBeGreaterThan(50)
    expect(parquet).toEqual(csv)
  })

  test('has the types of the contract in Parquet', async () => {
    const metadata = await parquetMetadataAsync(await parquetFile(table))
    const columns = parquetSchema(metadata).children.map(({ element }) => ({
      name: element.name,
      type: element.type,
      utc: element.logical_type?.type === 'TIMESTAMP' ? element.logical_type.isAdjustedToUTC : undefined,
      text: element.converted_type === 'UTF8',
    }))
    expect(columns).toEqual(
      table.columns.map(({ name, type }) => ({
        name,
        type: PHYSICAL[type] ?? 'BYTE_ARRAY',
        utc: type === 'time' ? true : undefined,
        text: PHYSICAL[type] === undefined,
      })),
    )
  })
})

test('holds 2^256 - 1 exactly in both formats', async () => {
  const max = (2n ** 256n - 1n).toString()
  const paths = readManifest(folders.csv).tables.erc1155_transfers?.files ?? []
  expect(readFileSync(join(folders.csv, paths[0]?.path ?? ''), 'utf8')).toContain(`,${max},`)
  const table = TABLES.find(({ name }) => name === 'erc1155_transfers') as Table
  const rows = await parquetReadObjects({ file: await parquetFile(table), compressors })
  expect(rows.some((row) => row.token_id === max)).toBe(true)
})
