import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { DEFAULT_TABLES, type TableName } from '../../src/core/table/index.ts'
import { summarizeRun } from '../../src/export/history/run-report.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { loadInto } from '../../src/load/load.ts'
import { outputName } from '../../src/storage/bucket-url.ts'
import { summaryText } from '../../src/terminal/summary.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import {
  bucketLocations,
  fetchToFolder,
  forked,
  growingChain,
  headJob,
  type Item,
  mergeFiles,
  rowsIn,
  unchanged,
  withoutBlocks,
} from '../helpers/growing-chain.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import type { TextRow } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { duckdb } from '../load/engines.ts'

/** Sets the price of every token. */
const priced = (value: string) => (items: Item[]) =>
  items.map((item): Item => {
    const price = { currencyCode: 'usd', value }
    const priceOne = (transfer: { erc20Token: object }) => ({
      ...transfer,
      erc20Token: { ...transfer.erc20Token, price },
    })
    return { ...item, erc20Transfers: (item.erc20Transfers ?? []).map(priceOne) }
  })

async function ended(job: Job, options: RunOptions = {}) {
  const result = await run([job], options)
  const [ended] = result.jobs
  if (ended === undefined || ended.error !== undefined) throw ended?.error
  await fetchToFolder(job)
  const [summary] = summarizeRun(result).jobs
  if (summary === undefined) throw new Error('no summary')
  return { summary, text: summaryText(result.jobs, { now: 0, programName: 'walletlake' }) }
}

type Change = { table: TableName; change: 'removed' | 'added'; row: Record<string, unknown> }

const listsIn = (output: string) =>
  existsSync(join(output, 'changes')) ? readdirSync(join(output, 'changes')).sort() : []

function readList(output: string, file: string | null): Change[] {
  const text = readFileSync(join(output, file ?? 'none'), 'utf8')
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Change)
}

/** Reads rows by table, each as one text with cells as in CSV. */
type Rows = Partial<Record<TableName, string[]>>

const asText = (row: Record<string, unknown>) =>
  JSON.stringify(Object.values(row).map((cell) => String(cell ?? '')))

async function csvRows(output: string, before: number): Promise<Rows> {
  const rows = await rowsIn(output)
  const counted = ({ block_number: block }: TextRow) => Number(block) < before
  return Object.fromEntries(DEFAULT_TABLES.map((table) => [table, rows[table].filter(counted).map(asText)]))
}

/** Applies a change list to the earlier rows. */
function applied(rows: Rows, list: readonly Change[]): Rows {
  const left = Object.fromEntries(DEFAULT_TABLES.map((table) => [table, [...(rows[table] ?? [])]]))
  for (const { table, change, row } of list) {
    const at = left[table]?.indexOf(asText(row)) ?? -1
    expect(at >= 0).toBe(change === 'removed')
    if (change === 'removed') left[table]?.splice(at, 1)
    else left[table]?.push(asText(row))
  }
  return left
}

const inOrder = (rows: Rows) =>
  Object.fromEntries(Object.entries(rows).map(([table, texts]) => [table, [...(texts ?? [])].sort()]))

const countsOf = (list: readonly Change[], change: Change['change']) =>
  Object.fromEntries(
    DEFAULT_TABLES.map((name) => [
      name,
      list.filter((one) => one.table === name && one.change === change).length,
    ]),
  )

const EMPTY = Object.fromEntries(DEFAULT_TABLES.map((table) => [table, 0]))

const CASES = [
  { what: 'a replaced block', first: forked(70), later: undefined, removes: true, adds: true },
  {
    what: 'an item that the service listed late',
    first: withoutBlocks(70),
    later: undefined,
    removes: false,
    adds: true,
  },
  {
    what: 'an item that the service no longer lists',
    first: undefined,
    later: withoutBlocks(70),
    removes: true,
    adds: false,
  },
]

testSample(1, CASES, '$what is listed row by row and counted', async ({ first, later, removes, adds }) => {
  const chain = await growingChain(120)
  const job = headJob(chain.url)
  chain.listing.view = first ?? unchanged
  await ended(job)
  const before = await csvRows(job.output, 121)
  chain.listing.view = later ?? unchanged
  await chain.advance(60)
  const { summary, text } = await ended(job, { lookbackBlocks: 80 })
  expect(summary.changesFile).toBe('changes/000001-000000000000-000000000121.ndjson')
  const list = readList(job.output, summary.changesFile)
  expect(list.map(({ row }) => row.block_number)).toEqual(list.map(() => 70))
  expect([...new Set(list.map(({ change }) => change))].sort()).toEqual([
    ...(adds ? ['added'] : []),
    ...(removes ? ['removed'] : []),
  ])
  expect(inOrder(applied(before, list))).toEqual(inOrder(await csvRows(job.output, 121)))
  expect([summary.rowsRemoved, summary.rowsAdded]).toEqual([
    countsOf(list, 'removed'),
    countsOf(list, 'added'),
  ])
  const [less, more] = ['removed', 'added'].map((kind) => list.filter(({ change }) => change === kind).length)
  expect(text).toContain(`in blocks [0, 121), exported before: ${less} row`)
  expect(text).toContain(`removed, ${more} added`)
  expect(text).toContain(`listed in ${outputName(job)}/${summary.changesFile}`)
  await expectValid(job.output)
})

test('sorts rows by table, block, removed before added, and file order', async () => {
  const chain = await growingChain(120)
  const job = headJob(chain.url)
  chain.listing.view = forked(61, 70)
  await ended(job)
  chain.listing.view = unchanged
  const { summary } = await ended(job, { lookbackBlocks: 80 })
  const list = readList(job.output, summary.changesFile)
  const tables = [...new Set(list.map(({ table }) => table))]
  expect(tables).toEqual(DEFAULT_TABLES.filter((table) => tables.includes(table)))
  const ofLedger = list.filter(({ table }) => table === 'ledger')
  const parts = ofLedger.map(({ row, change }) => `${row.block_number} ${change}`)
  expect([...new Set(parts)]).toEqual(['61 removed', '61 added', '70 removed', '70 added'])
  const added = ofLedger.filter(({ change }) => change === 'added').map(({ row }) => row.entry_id)
  const { ledger } = await rowsIn(job.output)
  const inFile = ledger.map((row) => row.entry_id).filter((id) => added.includes(id))
  expect(added).toEqual(inFile)
})

test('writes no list for blocks that were read again without changes', { tags: ['long'] }, async () => {
  const chain = await growingChain(120)
  const job = headJob(chain.url)
  const first = await ended(job)
  expect(first.summary).toMatchObject({ rowsRemoved: {}, rowsAdded: {}, changesFile: null })
  expect(first.text).not.toContain('exported before')
  await chain.advance(60)
  const { summary, text } = await ended(job, { lookbackBlocks: 80 })
  expect(summary).toMatchObject({ rowsRemoved: EMPTY, rowsAdded: EMPTY, changesFile: null })
  expect(text).toContain('in blocks [0, 121), exported before: 0 rows removed, 0 added')
  expect(readdirSync(job.output)).not.toContain('changes')
  const night = await ended(job)
  expect(night.summary).toMatchObject({ state: 'unchanged', rowsRemoved: {}, changesFile: null })
})

test('lists a changed label or price as a removed and an added row', async () => {
  const chain = await growingChain(120)
  const job = headJob(chain.url)
  chain.listing.view = priced('1.5')
  await ended(job)
  chain.listing.view = priced('2.5')
  const wallets = job.wallets.map((wallet, at) => (at === 0 ? { ...wallet, label: 'savings' } : wallet))
  const { summary } = await ended({ ...job, wallets }, { lookbackBlocks: 121 })
  const list = readList(job.output, summary.changesFile)
  const labelled = list.filter(({ table }) => table === 'ledger')
  expect(summary.rowsAdded).toEqual(summary.rowsRemoved)
  expect(labelled.length).toBeGreaterThan(0)
  for (const { change, row } of labelled) expect(row.wallet_label).toBe(change === 'added' ? 'savings' : null)
  const ofTokens = list.filter(({ table }) => table === 'erc20_transfers')
  const prices = ofTokens.map(({ change, row }) => `${change} ${row.price_value}`)
  expect(new Set(prices)).toEqual(new Set(['removed 1.5', 'added 2.5']))
})

test('lists the rows of an added wallet in blocks that were exported before', async () => {
  const chain = await growingChain(120)
  const job = headJob(chain.url, { count: 4 })
  await ended(job)
  const before = await csvRows(job.output, 121)
  await chain.advance(60)
  const more = headJob(chain.url, { output: job.output, count: 6 })
  const { summary } = await ended(more)
  const list = readList(job.output, summary.changesFile)
  const added = more.wallets.filter(({ address }) => job.wallets.every((one) => one.address !== address))
  const seen = new Set(list.flatMap(({ table, row }) => (table === 'ledger' ? [row.wallet_address] : [])))
  for (const { address } of added) expect(seen).toContain(address)
  expect(list.every(({ row }) => Number(row.block_number) < 121)).toBe(true)
  expect(inOrder(applied(before, list))).toEqual(inOrder(await csvRows(job.output, 121)))
})

test('numbers lists in the order of runs, even if some were deleted', { tags: ['long'] }, async ({
  skip,
}) => {
  skip(bucketLocations.next !== undefined, 'lists are removed from a folder')
  const chain = await growingChain(120)
  const job = headJob(chain.url)
  await ended(job)
  const flips = [withoutBlocks(70), unchanged, withoutBlocks(70)]
  for (const [at, view] of flips.entries()) {
    chain.listing.view = view
    const { summary } = await ended(job, { lookbackBlocks: 80 })
    expect(summary.changesFile).toBe(`changes/00000${at + 1}-000000000000-000000000121.ndjson`)
    if (at === 1) rmSync(join(job.output, 'changes'), { recursive: true })
  }
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  chain.listing.view = unchanged
  const more = headJob(chain.url, { output: job.output, count: 7 })
  const { summary } = await ended(more)
  expect(summary.changesFile).toBe('changes/000004-000000000000-000000000121.ndjson')
  expect(listsIn(job.output)).toHaveLength(2)
})

test('does not affect merging and loading the export', { tags: ['long'] }, async () => {
  const chain = await growingChain(120)
  const job = headJob(chain.url)
  const place = await duckdb.place()
  chain.listing.view = withoutBlocks(70)
  await ended(job)
  await loadInto(job.output, place.to)
  chain.listing.view = unchanged
  await chain.advance(60)
  const { summary } = await ended(job, { lookbackBlocks: 80 })
  await ended(job)
  const list = outputBytes(job.output)[summary.changesFile ?? '']
  expect((await mergeFiles(job)).orphans).toBe(0)
  expect(outputBytes(job.output)[summary.changesFile ?? '']).toBe(list)
  await loadInto(job.output, place.to)
  const csv = await rowsIn(job.output)
  for (const table of DEFAULT_TABLES) expect(await place.rows(table)).toHaveLength(csv[table].length)
  await expectValid(job.output)
  chain.listing.view = withoutBlocks(80)
  const again = await ended(job, { lookbackBlocks: 150 })
  const blocks = readList(job.output, again.summary.changesFile).map(({ row }) => row.block_number)
  expect(new Set(blocks)).toEqual(new Set([80]))
})

test('ends the run without changing the export if an earlier file cannot be read', async () => {
  const chain = await growingChain(120)
  const given = { format: 'parquet', compression: 'zstd', tables: ['ledger'] } as const
  const job = headJob(chain.url, { ...given, output: tempFolder() })
  await ended(job)
  const path = join(job.output, 'ledger', readdirSync(join(job.output, 'ledger'))[0] ?? '')
  writeFileSync(path, Buffer.alloc(readFileSync(path).length))
  const bytes = outputBytes(job.output)
  await chain.advance(60)
  const [result] = (await run([job], { lookbackBlocks: 80 })).jobs
  expect(result?.error).toMatchObject({ code: 'OUTPUT_FAILED', fix: expect.stringContaining('--fresh') })
  expect(outputBytes(job.output)).toEqual(bytes)
  await ended(job, { fresh: true })
  await expectValid(job.output)
})
