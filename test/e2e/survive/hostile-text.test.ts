import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { expect, test } from 'vitest'
import { DEFAULT_TABLES, type TableName, tableByName } from '../../../src/core/table/index.ts'
import { run } from '../../../src/export/run.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { faultWhere } from '../../helpers/faults.ts'
import { addresses, service } from '../../helpers/faulty-run.ts'
import { testJob } from '../../helpers/jobs.ts'
import { startLoopback } from '../../helpers/loopback.ts'
import { readCsvTable, readManifest } from '../../helpers/read-output.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { HOSTILE_TEXTS, hostileNames } from '../../helpers/untrusted-text.ts'

type Cells = Record<string, unknown>

type Given = { hostile: boolean; format: 'csv' | 'parquet' }

const folder = suiteFolder()
const exports = new Map<string, ReturnType<typeof exportAnew>>()

/** Exports a wallet with every kind of transfer, with hostile or original names, once per format. */
function exportWallet(given: Given) {
  const key = JSON.stringify(given)
  const output = exports.get(key) ?? exportAnew(given, join(folder, String(exports.size)))
  exports.set(key, output)
  return output
}

async function exportAnew({ hostile, format }: Given, output: string) {
  const { url } = await startLoopback(service, hostile ? faultWhere(() => true, hostileNames) : undefined)
  const endpoint = { baseUrl: url }
  const job = testJob({
    addresses: addresses.slice(1),
    endBlock: 250,
    output,
    format,
    keepRaw: true,
    service: endpoint,
  })
  expect(await run([job])).toMatchObject({ code: undefined })
  return output
}

/** Separates cells with untrusted text from the others. */
function parted(table: TableName, rows: readonly Cells[]) {
  const names = tableByName(table).columns.filter(
    ({ name, type }) => type === 'text' && OURS.test(name) === false,
  )
  const strange = new Set(names.map(({ name }) => name))
  const rest = rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !strange.has(name))),
  )
  const texts = rows
    .flatMap((row) => [...strange].map((name) => row[name]))
    .filter((cell) => cell !== null && cell !== '')
  return { rest, texts }
}

/** Text columns that contain no untrusted text. */
const OURS = /_id$|_hash$|_address$|_type$|_label$|^(status|call_type|method_id|direction|source)$/

const texts = new Set(HOSTILE_TEXTS.map((text) => text.toWellFormed()))
const escaped = new Set([...texts].map((text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)))

async function readParquetTable(folder: string, table: TableName): Promise<Cells[]> {
  const rows: Cells[] = []
  for (const { path } of readManifest(folder).tables[table]?.files ?? []) {
    rows.push(
      ...(await parquetReadObjects({ file: await asyncBufferFromFile(join(folder, path)), compressors })),
    )
  }
  return rows
}

const FORMATS = [
  { format: 'csv', read: readCsvTable, allowed: escaped },
  // The reader strips a byte order mark that the file contains.
  {
    format: 'parquet',
    read: readParquetTable,
    allowed: new Set([...texts].filter((text) => text !== '\ufeff')),
  },
] as const

testSample(
  1,
  FORMATS,
  'hostile names do not shift cells of a $format file',
  async ({ format, read, allowed }) => {
    const [hostile, calm] = [
      await exportWallet({ hostile: true, format }),
      await exportWallet({ hostile: false, format }),
    ]
    const seen = new Set<unknown>()
    for (const table of DEFAULT_TABLES) {
      const [found, expected] = [
        parted(table, await read(hostile, table)),
        parted(table, await read(calm, table)),
      ]
      expect(found.rest).toEqual(expected.rest)
      for (const text of found.texts) seen.add(text)
    }
    expect([...seen].filter((text) => !allowed.has(String(text)))).toEqual([])
    expect(seen.size).toBe(allowed.size)
    expect(await verifyOutput(hostile)).toMatchObject({ ok: true, problems: [] })
    expect(Object.keys({})).toEqual([])
    expect(({} as Cells).polluted).toBeUndefined()
  },
)

test('a warehouse reads all rows with hostile names', async () => {
  const output = await exportWallet({ hostile: true, format: 'csv' })
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  for (const [table, { rows, files }] of Object.entries(readManifest(output).tables)) {
    const path = join(output, files[0]?.path ?? '')
    const options = "header = true, all_varchar = true, quote = '\"', escape = '\"', max_line_size = 9000000"
    const read = await connection.runAndReadAll(`select count(*) from read_csv('${path}', ${options})`)
    expect([table, Number(read.getRows()[0]?.[0])]).toEqual([table, rows])
  }
  connection.closeSync()
})

test('no untrusted name becomes part of a file name', async () => {
  const output = await exportWallet({ hostile: true, format: 'csv' })
  const names = readdirSync(output, { recursive: true, encoding: 'utf8' })
  expect(names.filter((name) => !/^[\w./-]+$/.test(name) || name.includes('..'))).toEqual([])
  expect(readFileSync(join(output, 'manifest.json'), 'utf8')).not.toContain('passwd')
})
