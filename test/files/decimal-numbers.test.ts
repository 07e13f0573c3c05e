import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { openDuckDb } from '../../src/core/duckdb/connection.ts'
import { run } from '../../src/export/run.ts'
import { compactOutput } from '../../src/files/compact.ts'
import { queryExport } from '../../src/read/query-export.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { testJob } from '../helpers/jobs.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { readManifest } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const output = join(suiteFolder(), 'decimal')
const SETTINGS = { format: 'parquet', numbers: 'decimal', endBlock: 40 } as const
const addresses = demoWallets.slice(0, 12)

beforeAll(() => exportDemo(output, { ...SETTINGS, addresses, maxRowsPerFile: 200 }))

async function rowsOf(sql: string): Promise<unknown[][]> {
  const { connection, close } = await openDuckDb('shared', join(output, 'x'))
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson()
  } finally {
    await close()
  }
}

const ledger = `read_parquet('${output}/ledger/*.parquet')`

test('decimals beside the exact text sum without casts, and are null where they do not fit', async () => {
  const columns = await rowsOf(`SELECT name, type FROM (DESCRIBE SELECT * FROM ${ledger}) AS t(name, type)`)
  expect(columns.slice(-2)).toEqual([
    ['value_decimal', 'DECIMAL(38,0)'],
    ['amount_decimal', 'DECIMAL(38,18)'],
  ])
  const [[sum, missing] = []] = await rowsOf(
    `SELECT sum(value_decimal)::VARCHAR = sum(value::BIGNUM) FILTER (WHERE value_decimal IS NOT NULL)::VARCHAR,
       count(*) FILTER (WHERE value_decimal IS NULL OR (amount_decimal IS NULL AND amount IS NOT NULL)) FROM ${ledger}`,
  )
  expect(sum).toBe(true)
  const manifest = readManifest(output)
  expect(manifest.job.numbers).toBe('decimal')
  expect(manifest.tables.ledger?.notDecimal ?? 0).toBe(Number(missing))
  expect(Number(missing)).toBeGreaterThan(0)
})

test('verify, query and load accept the files', async () => {
  expect((await verifyOutput(output)).ok).toBe(true)
  for await (const { batches } of queryExport(output, 'select count(*), sum(value) from ledger'))
    for await (const rows of batches) expect(rows).toHaveLength(1)
  const to = `duckdb:${join(suiteFolder(), 'lake.db')}`
  expect(await runCommand(['load', output, '--to', to])).toMatchObject({ exit: 0 })
})

test('compact keeps the decimals and their count', { tags: ['long'] }, async () => {
  const before = readManifest(output)
  const sums = `SELECT sum(value_decimal)::VARCHAR, sum(amount_decimal)::VARCHAR FROM ${ledger}`
  const sumsBefore = await rowsOf(sums)
  expect((await compactOutput(output)).changed).toBe(true)
  const after = readManifest(output)
  expect(after.tables.ledger?.notDecimal).toBe(before.tables.ledger?.notDecimal)
  expect(after.tables.ledger?.files.length).toBeLessThan(before.tables.ledger?.files.length ?? 0)
  expect(await rowsOf(sums)).toEqual(sumsBefore)
  expect((await verifyOutput(output)).ok).toBe(true)
})

test('Iceberg tables have the decimals', { tags: ['long'] }, async () => {
  const lake = join(suiteFolder(), 'iceberg')
  const job = testJob({ ...SETTINGS, addresses: addresses.slice(0, 2), table: 'iceberg', output: lake })
  expect((await run([job])).code).toBeUndefined()
  const folder = join(lake, 'ledger', 'metadata')
  const [newest = ''] = readdirSync(folder).filter((name) => name.endsWith('.metadata.json'))
  const { schemas } = JSON.parse(readFileSync(join(folder, newest), 'utf8'))
  expect(schemas[0].fields.slice(-2)).toMatchObject([
    { id: 901, name: 'value_decimal', required: false, type: 'decimal(38, 0)' },
    { id: 902, name: 'amount_decimal', required: false, type: 'decimal(38, 18)' },
  ])
  expect((await verifyOutput(lake)).ok).toBe(true)
})

test('decimals need Parquet', async () => {
  const csv = [
    'run',
    '--chain',
    '43114',
    '--address',
    '0x58a57ed9d8d624cbd12e2c467d34787555bb1b25',
    '--base-url',
    'demo',
  ]
  const { exit, stderr } = await runCommand([
    ...csv,
    '--numbers',
    'decimal',
    '--output',
    join(suiteFolder(), 'csv'),
  ])
  expect(exit).toBe(2)
  expect(stderr).toContain('text, unless the format is parquet')
})
