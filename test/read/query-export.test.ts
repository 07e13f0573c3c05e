import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { queryExport } from '../../src/read/query-export.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { type Cells, goodLake } from '../verify/export/model-export.ts'
import { type Writing, writeLake } from '../verify/export/write-model-export.ts'

const folder = suiteFolder()
const MAX = 2n ** 256n - 1n
/** DECIMAL(38, 18) represents all of these. */
const SMALL = [
  [-15n, 1],
  [9n, 0],
  [10n, 0],
  [25n * 10n ** 17n, 18],
  [-1n, 18],
] as const
/** No DECIMAL type represents all of these. */
const LARGE = [...SMALL, [MAX, 0], [-MAX, 255], [MAX - 1n, 3], [1n, 255]] as const

let written = 0
async function exportOf(
  values: readonly (readonly [value: bigint, decimals: number])[],
  { prices = [], ...writing }: Writing & { prices?: readonly string[] } = {},
): Promise<string> {
  written += 1
  const output = join(folder, String(written))
  const lake = goodLake()
  const [entry, transfer] = [lake.ledger[0] as Cells, lake.erc20_transfers[0] as Cells]
  lake.ledger = values.map(([value, decimals], at) => ({
    ...entry,
    entry_id: `${at}`,
    value: String(value),
    asset_decimals: String(decimals),
    amount: amountOf(value, decimals),
  }))
  lake.erc20_transfers = prices.map((price_value, at) => ({
    ...transfer,
    transfer_id: `${at}`,
    log_index: `${at}`,
    price_value,
  }))
  await writeLake(output, lake, writing)
  return output
}

const shared = new Map<string, Promise<string>>()

/** The export of these values as CSV, for tests that only read it. */
function sharedExport(name: 'small' | 'large'): Promise<string> {
  const output = shared.get(name) ?? exportOf(name === 'small' ? SMALL : LARGE)
  shared.set(name, output)
  return output
}

function amountOf(value: bigint, decimals: number): string {
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const whole = digits.slice(0, digits.length - decimals)
  return `${value < 0n ? '-' : ''}${decimals === 0 || fraction === '' ? whole : `${whole}.${fraction}`}`
}

/** The amounts in ascending order, compared as integers of one scale. */
const ascending = (values: readonly (readonly [bigint, number])[]) =>
  [...values]
    .sort(([a, m], [b, n]) => (a * 10n ** BigInt(255 - m) < b * 10n ** BigInt(255 - n) ? -1 : 1))
    .map(([value, decimals]) => amountOf(value, decimals))

async function query(output: string, sql: string): Promise<unknown[][]> {
  const rows: unknown[][] = []
  for await (const { batches } of queryExport(output, sql))
    for await (const batch of batches) rows.push(...batch.map((row) => [...row]))
  return rows
}

const column = async (output: string, sql: string) => (await query(output, sql)).map(([cell]) => cell)

const SORTED = [
  { what: 'that fit into DECIMAL', ending: 'csv', values: SMALL },
  { what: 'of 78 digits', ending: 'csv', values: LARGE },
  { what: 'of 78 digits', ending: 'parquet', values: LARGE },
  { what: 'of 78 digits', ending: 'csv.gz', values: LARGE },
  { what: 'that fit into DECIMAL', ending: 'parquet', values: SMALL },
  { what: 'that fit into DECIMAL', ending: 'csv.gz', values: SMALL },
] as const

testSample(1, SORTED, 'sorts amounts $what in numeric order, from $ending', async ({ values, ending }) => {
  const output = await exportOf(values, { ending })
  const sorted = ascending(values)
  expect(await column(output, 'select amount from ledger order by amount')).toEqual(sorted)
  const units = 'select units(value, asset_decimals) as u from ledger order by u desc'
  expect(await column(output, units)).toEqual(sorted.toReversed())
  const extremes = 'select min(amount), max(amount), max(units(value, asset_decimals)) from ledger'
  expect(await query(output, extremes)).toEqual([[sorted[0], sorted.at(-1), sorted.at(-1)]])
  const nested = 'with a as (select amount as x from ledger) select x from (select * from a) order by x desc'
  expect(await column(output, nested)).toEqual(sorted.toReversed())
  const ranks = 'select amount, row_number() over (order by amount) as n from ledger order by n'
  expect(await column(output, ranks)).toEqual(sorted)
  const above = 'select amount from ledger where amount >= units(10, 0) order by amount'
  expect(await column(output, above)).toEqual(sorted.slice(sorted.indexOf('10')))
})

const ROUNDS = [
  { rounds: 3, seed: 1 },
  { rounds: 20, seed: 2 },
]
testSample(1, ROUNDS, 'sorts any amounts in numeric order: $rounds rounds', async ({ rounds, seed }) => {
  const amount = fc.tuple(fc.bigInt(-MAX, MAX), fc.integer({ min: 0, max: 255 }))
  const near = fc.tuple(fc.bigInt(-150n, 150n), fc.integer({ min: 0, max: 3 }))
  const law = fc.asyncProperty(
    fc.uniqueArray(fc.oneof(amount, near), {
      selector: ([v, d]) => amountOf(v, d),
      minLength: 1,
      maxLength: 60,
    }),
    async (values) => {
      const output = await exportOf(values)
      const sql = 'select amount, value from ledger order by amount'
      expect(await column(output, sql)).toEqual(ascending(values))
      const wholes = values.map(([value]) => value).sort((a, b) => (a < b ? -1 : 1))
      expect(await column(output, 'select value from ledger order by value')).toEqual(wholes.map(String))
    },
  )
  await fc.assert(law, { numRuns: rounds, seed })
})

test('sums and compares amounts exactly if all fit into DECIMAL', { tags: ['long'] }, async () => {
  const output = await sharedExport('small')
  const sums = 'select sum(amount), sum(units(value, asset_decimals)) from ledger'
  expect(await query(output, sums)).toEqual([['19.999999999999999999', '19.999999999999999999']])
  expect(await column(output, 'select amount from ledger where amount > 5 order by amount')).toEqual([
    '9',
    '10',
  ])
  expect(await column(output, 'select amount from ledger where amount between 1e0 and 9')).toEqual([
    '9',
    '2.5',
  ])
  expect(await column(output, 'select median(amount) from ledger')).toEqual(['2.5'])
  expect(await column(output, 'select sum(amount) over (order by amount) from ledger limit 2')).toEqual([
    '-1.5',
    '-1.500000000000000001',
  ])
})

test('sums amounts of any number of digits exactly', async () => {
  const output = await sharedExport('large')
  const total = LARGE.reduce((sum, [value, decimals]) => sum + value * 10n ** BigInt(255 - decimals), 0n)
  const sums = 'select sum(amount), sum(l.amount), sum(units(value, asset_decimals)) from ledger as l'
  const expected = amountOf(total, 255)
  expect(await query(output, sums)).toEqual([[expected, expected, expected]])
  const grouped =
    'select asset_decimals as d, SUM ( "amount" ) as s, sum(amount) from ledger group by d order by s desc limit 2'
  expect(await query(output, grouped)).toEqual([
    [0, amountOf(MAX + 19n, 0), amountOf(MAX + 19n, 0)],
    [3, amountOf(MAX - 1n, 3), amountOf(MAX - 1n, 3)],
  ])
  const other = 'select sum(amount) from (select asset_decimals as amount from ledger)'
  expect(await column(output, other)).toEqual(['550'])
  for await (const { columns } of queryExport(output, 'select sum(amount) from ledger'))
    expect(columns).toMatchObject([{ name: 'sum(amount)', isNumber: true }])
})

const REFUSED = [
  'select sum(amount * 2) from ledger',
  'select sum(amount) over () from ledger',
  'select sum(amount) filter (asset_decimals > 0) from ledger',
  'select count(*) from ledger having sum(amount) > 5',
  'select count(*) from ledger where amount > 5',
  'select amount * 2 from ledger',
  'select amount from ledger union all select 5',
  'select avg(amount) from ledger',
  'select sum(x) from (select amount as x from ledger)',
  'select sum(distinct amount) from ledger',
  "select count(*) from ledger where amount > '5'",
  'select count(*) from ledger where amount between 1 and 2',
  'select count(*) from ledger where amount in (1, 2)',
  'select count(*) from ledger group by amount having amount < 1.5',
  'select amount::double from ledger',
  'select coalesce(amount, 0) from ledger',
]
testSample(
  4,
  REFUSED,
  'refuses computations with amounts that do not fit into DECIMAL, with an alternative: %s',
  async (sql) => {
    const output = await sharedExport('large')
    await expect(query(output, sql)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('amount has up to 78 digits before the point and 255 after it'),
      fix: expect.stringContaining('units(sum(value), 18)'),
    })
  },
)

test('computes with amounts if the rows that are selected fit into DECIMAL', async () => {
  const output = await sharedExport('large')
  const few = 'where asset_decimals <= 18 and value > -1e19 and value < 1e19'
  expect(await column(output, `select sum(amount) from ledger ${few}`)).toEqual(['19.999999999999999999'])
  expect(await column(output, `select count(*) from ledger ${few} and amount > 5`)).toEqual([2])
})

test('refuses sums beyond 38 digits and suggests units_text', async () => {
  const output = await exportOf([
    [9n * 10n ** 37n, 18],
    [9n * 10n ** 37n, 18],
  ])
  for (const sql of ['select sum(amount) from ledger', 'select units(sum(value), 18) from ledger'])
    await expect(query(output, sql)).rejects.toMatchObject({
      code: 'USAGE',
      fix: expect.stringContaining('units_text(sum(value), 18)'),
    })
  const text = 'select units_text(sum(value), 18) from ledger'
  expect(await column(output, text)).toEqual(['180000000000000000000'])
})

test('never rounds a decimal that a statement uses without naming it', async () => {
  const output = await exportOf([[1n, 40]])
  const row = query(output, 'select l from ledger as l')
  await expect(row).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('too many digits in 0.0'),
  })
})

test('sorts prices in numeric order', async () => {
  const sql = 'select price_value from erc20_transfers order by price_value desc'
  expect(await column(await exportOf(SMALL, { prices: ['9.5', '10', '-1'] }), sql)).toEqual([
    '10',
    '9.5',
    '-1',
  ])
  const many = `0.${'0'.repeat(50)}1`
  expect(await column(await exportOf(SMALL, { prices: ['9', many, '10'] }), sql)).toEqual(['10', '9', many])
})

test('compares 256-bit numbers with literals of any size exactly', async () => {
  const output = await exportOf([
    [10n ** 18n, 18],
    [10n ** 18n + 1n, 18],
    [MAX, 0],
    [MAX - 1n, 0],
  ])
  const found = (where: string) => column(output, `select value from ledger where ${where} order by value`)
  expect(await found('value > 1e18')).toEqual([String(10n ** 18n + 1n), String(MAX - 1n), String(MAX)])
  expect(await found(`value = ${MAX}`)).toEqual([String(MAX)])
  expect(await found(`value in (${MAX - 1n}, -1E0)`)).toEqual([String(MAX - 1n)])
})

test('marks floating-point columns in a result', async () => {
  const output = await sharedExport('small')
  for await (const { columns } of queryExport(output, 'select avg(value) as a, sum(value) as s from ledger'))
    expect(columns.map(({ isRounded }) => isRounded)).toEqual([true, false])
})

test('pivots, explains, describes and summarizes', { tags: ['long'] }, async () => {
  const output = await sharedExport('small')
  const pivot = 'pivot ledger on asset_decimals using sum(value) group by wallet_address'
  expect((await query(output, pivot))[0]?.slice(1)).toEqual(['19', '-15', '2499999999999999999'])
  const inside = `select "0" from (${pivot}); select 1`
  expect(await column(output, inside)).toEqual(['19', 1])
  expect((await column(output, 'explain select max(amount) from ledger')).join('\n')).toMatch(
    /AGGREGATE|GROUP_BY/,
  )
  expect(await column(output, 'explain analyze select 1')).not.toEqual([])
  expect(await column(output, 'describe ledger')).toContain('amount')
  expect(await column(output, 'summarize ledger')).toContain('amount')
})

test.for([
  'explain analyze create table x as select 1',
  'create type mood as enum (select 1)',
  'pragma database_list',
  'with a as (select 1) insert into ledger select * from a',
  'explain',
])('refuses %s', async (sql) => {
  const output = await sharedExport('small')
  await expect(query(output, sql)).rejects.toMatchObject({ code: 'USAGE' })
})

test.for(['select ?::int', 'select $1', 'select $name + 1'])('refuses parameters: %s', async (sql) => {
  const message = 'the statement contains parameters'
  await expect(query(await sharedExport('small'), sql)).rejects.toMatchObject({ code: 'USAGE', message })
})

test('puts the lines of an error message of DuckDB into one line', async () => {
  const row = query(await sharedExport('small'), 'select nocolumn from ledger')
  const message = expect.stringMatching(
    / not found in FROM clause! Candidate bindings: [^\n]*\n+ *LINE 1: select/,
  )
  await expect(row).rejects.toMatchObject({ code: 'USAGE', message })
})

test('ignores comments and empty statements', async () => {
  const output = await sharedExport('small')
  expect(await query(output, "select ';' as a; -- ; select 2\n ; /* ; */ select 3;")).toEqual([[';'], [3]])
})

test.for([
  ['select map([counterparty_name], [1]) from ledger', 'Map keys can not be NULL'],
  ["select error('no such rate') from ledger", 'no such rate'],
  [
    "select error(E'\\nInvalid Input Error: CSV Error on Line: 3') from query_table('ledger')",
    'CSV Error on Line: 3',
  ],
] as const)('does not report an error of the statement as damage: %s', async ([sql, reason]) => {
  const output = await sharedExport('large')
  await expect(query(output, sql)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(reason),
  })
})

test.for(['ledger', "query_table('ledger')"])('reports an invalid row of %s as damage', async (from) => {
  const output = await exportOf(SMALL, { edit: { ledger: (csv) => `${csv}1,2\n` } })
  await expect(query(output, `select * from ${from}`)).rejects.toMatchObject({
    code: 'VERIFY_FAILED',
    message: expect.stringMatching(/^ledger\/.*\.csv:\d+: cannot be read: /),
  })
})

test('reports that another run replaced the export while it was read', async () => {
  const output = await exportOf(SMALL)
  const results = queryExport(output, 'select 1; select sum(value) from ledger')
  await results.next()
  renameSync(join(output, 'ledger'), join(output, 'replaced'))
  writeFileSync(join(output, 'manifest.json'), '{}')
  await expect(results.next()).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    message: expect.stringContaining('another run replaced the export'),
  })
})
