import { readdirSync } from 'node:fs'
import { expect, expectTypeOf, test } from 'vitest'
import { DEFAULT_TABLES, TABLES, type TableName, tableByName } from '../../src/core/table/index.ts'
import { defineJob, type JobFields, rows, run, type TableRows } from '../../src/index.ts'
import type { FIELD_PATHS } from '../../src/job/fields/fields.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { suiteFolder, tempFolder } from '../helpers/temp-folder.ts'

const fields = {
  chain: 43114,
  // The wallet has rows in every table.
  addresses: demoWallets.slice(23, 24).map((address) => ({ address, label: 'mine' })),
  endBlock: 421,
  output: suiteFolder(),
  service: { baseUrl: 'demo' },
} as const satisfies JobFields

async function collect<T extends TableName>(table: T, job = defineJob(fields)) {
  const all: TableRows[T][] = []
  for await (const row of rows(await job, table, { folder: tempFolder() })) all.push(row)
  return all
}

/** Formats a row's cells like a CSV export. */
function toText(row: object): Record<string, string> {
  const cells = Object.entries(row as Record<string, unknown>)
  const textOf = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value ?? ''))
  return Object.fromEntries(cells.map(([name, value]) => [name, textOf(value)]))
}

test('rows() yields the rows of the CSV export for every table', async () => {
  const job = { ...(await defineJob(fields)), escapeFormulas: false }
  const { code } = await run([job])
  expect(code).toBeUndefined()
  for (const table of DEFAULT_TABLES) {
    const found = await collect(table)
    expect(found.length).toBeGreaterThan(0)
    expect(found.map(toText)).toEqual(await readCsvTable(job.output, table))
  }
})

const KINDS = {
  text: 'string',
  int32: 'number',
  int64: 'bigint',
  bool: 'boolean',
  time: 'Date',
  u256: 'string',
  i256: 'string',
  decimal: 'string',
} as const
const kindOf = (value: unknown) => (value instanceof Date ? 'Date' : typeof value)

test('each cell has the type of its column', { tags: ['long'] }, async () => {
  for (const { name } of TABLES) {
    for (const row of await collect(name)) {
      for (const column of tableByName(name).columns) {
        const value = (row as Record<string, unknown>)[column.name]
        if (value === null) expect(column.nullable).toBe(true)
        else expect(kindOf(value)).toBe(KINDS[column.type])
      }
    }
  }
})

test('the type of a row has its columns', () => {
  type Ledger = TableRows['ledger']
  expectTypeOf<Ledger['value']>().toEqualTypeOf<string>()
  expectTypeOf<Ledger['asset_decimals']>().toEqualTypeOf<number | null>()
  expectTypeOf<Ledger['block_number']>().toEqualTypeOf<bigint>()
  expectTypeOf<Ledger['block_timestamp']>().toEqualTypeOf<Date>()
  expectTypeOf<TableRows['transactions']['success']>().toEqualTypeOf<boolean | null>()
  expectTypeOf<Ledger>().not.toHaveProperty('success')
  expectTypeOf<keyof TableRows>().toEqualTypeOf<TableName>()
})

test('leaves no folder if the reader stops early', async () => {
  const folder = tempFolder()
  for await (const { entry_id: id } of rows(await defineJob(fields), 'ledger', { folder })) {
    expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(readdirSync(folder)).toHaveLength(1)
    break
  }
  expect(readdirSync(folder)).toEqual([])
})

test('ends with an ExportError and leaves no folder if reading is aborted', async () => {
  const [folder, stop] = [tempFolder(), new AbortController()]
  const reading = rows(await defineJob(fields), 'ledger', { folder, signal: stop.signal })
  await reading.next()
  stop.abort()
  await expect(reading.next()).rejects.toMatchObject({ name: 'ExportError', code: 'INTERRUPTED' })
  expect(readdirSync(folder)).toEqual([])
  const late = rows(await defineJob(fields), 'ledger', { folder, signal: stop.signal })
  await expect(late.next()).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(readdirSync(folder)).toEqual([])
})

test('an aborted run is not reported as a bug and resumes later', async () => {
  const job = await defineJob({ ...fields, output: tempFolder() })
  const { code, jobs } = await run([job], { signal: AbortSignal.abort() })
  expect([code, jobs[0]?.error?.message]).toEqual(['INTERRUPTED', 'the run was aborted'])
  expect((await run([job])).code).toBeUndefined()
})

test('fails with the same error as a run if the service refuses', async () => {
  const folder = tempFolder()
  const reading = rows(await defineJob({ ...fields, chain: 'no-such-chain' }), 'ledger', { folder })
  await expect(reading.next()).rejects.toMatchObject({ name: 'ExportError', code: 'REQUEST_REFUSED' })
  expect(readdirSync(folder)).toEqual([])
})

test('rejects an invalid job with all diagnostics', async () => {
  const wrong = { chain: 1, addresses: ['0x12'], startBlock: -1, colour: 'red' } as JobFields
  const defining = defineJob(wrong)
  await expect(defining).rejects.toMatchObject({ code: 'JOB_INVALID' })
  const { message } = (await defining.catch((thrown: unknown) => thrown)) as Error
  for (const field of ['addresses[0]', 'startBlock', 'colour']) expect(message).toContain(field)
  await expect(defineJob(undefined as unknown as JobFields)).rejects.toMatchObject({ code: 'JOB_INVALID' })
})

test('accepts every field of a job file in an object', () => {
  type Section = 'service' | 'catalog' | 'store'
  type Below = { [S in Section]: `${S}.${keyof NonNullable<JobFields[S]> & string}` }[Section]
  type Known = keyof JobFields | Below
  expectTypeOf<(typeof FIELD_PATHS)[number]>().toEqualTypeOf<Exclude<Known, Section>>()
})
