import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireManifest } from '../../src/read/dataset.ts'
import { withExactNumbers } from '../../src/read/exact-numbers.ts'
import { type ExactnessCheck, openExactnessCheck } from '../../src/read/exactness-check.ts'
import { withPivotValues } from '../../src/read/pivot-values.ts'
import { queryExport } from '../../src/read/query-export.ts'
import { openScratchDatabase, type ScratchDatabase } from '../../src/read/scratch-database.ts'
import { splitStatements, sqlTokens } from '../../src/read/sql-tokens.ts'
import { makeViews } from '../../src/read/views.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { type Cells, goodLake } from '../verify/export/model-export.ts'
import { writeLake } from '../verify/export/write-model-export.ts'

/** Two values that are equal in floating point. */
const VALUES = ['5000000000000000001', '5000000000000000000']
const folder = suiteFolder()
const output = join(folder, 'export')

let rows: ScratchDatabase
let exactness: ExactnessCheck

beforeAll(async () => {
  const lake = goodLake()
  const entry = lake.ledger[0] as Cells
  lake.ledger = VALUES.map((value, at) => ({
    ...entry,
    entry_id: `${at}`,
    value,
    asset_decimals: '18',
    amount: `5.${value.slice(1)}`.replace(/\.?0+$/, ''),
  }))
  await writeLake(output, lake)
  rows = await openScratchDatabase(output)
  const manifest = await requireManifest(output)
  const { types } = await makeViews({ manifest, database: rows, openedFiles: [], statements: [] })
  exactness = await openExactnessCheck(rows, types)
})
afterAll(async () => {
  exactness.close()
  await rows.close()
})

async function query(sql: string): Promise<unknown[][]> {
  const cells: unknown[][] = []
  for await (const { batches } of queryExport(output, sql))
    for await (const batch of batches) cells.push(...batch.map((row) => [...row]))
  return cells
}

/** Checks statements in the shared database. */
async function check(sql: string): Promise<void> {
  for (const tokens of splitStatements(sql))
    await exactness.check({ tokens, toSql: withExactNumbers, pivotValues: [] })
}

const refused = (sql: string) => expect(check(sql), sql).rejects
const ROUNDED = { code: 'USAGE', message: expect.stringContaining('by rounded numbers') }

describe('refuses to compare exact numbers in floating point', () => {
  test.for([
    'value > 5 * 1e18',
    'value > 5 * 10^18',
    'value > power(10, 18) * 5',
    'value / 1e18 > 5',
    'value % 2 = 1',
    'value // 2 = 2500000000000000000',
    'value * 2 > 1e19',
    'abs(value) = 5e18',
    'value::DOUBLE = 5e18',
    'value = (select avg(value) from ledger)',
    'value between 1 and 5 * 1e18',
    'value not between 1 and 5 * 1e18',
    'value in (5 * 1e18, 3)',
    'value not in (5 * 1e18, 3)',
    'value in (select 5 * 1e18)',
    'value is distinct from 5 * 1e18',
    'value > 5e18::DOUBLE and true',
    'amount > 5::DOUBLE',
    'amount / 2 > 2.5',
    'amount in (5::FLOAT)',
    'units(value, 18) / 2 > 2.5',
    'coalesce(value / 1e18, 0) > 5',
    'case when value / 1e18 > 5 then true else false end',
    'exists (select 1 from ledger as other where other.value / 1e18 = ledger.amount)',
  ])('where %s', async (condition) => {
    await refused(`select entry_id from ledger where ${condition}`).toMatchObject(ROUNDED)
  })

  test.for([
    'select entry_id from ledger order by value / 1e18 limit 1',
    'select entry_id, value / 1e18 as avax from ledger order by avax desc',
    'select distinct value / 1e18 from ledger',
    'select distinct on (value / 1e18) entry_id from ledger',
    'select value / 1e18, count(*) from ledger group by 1',
    'select count(distinct value / 1e18) from ledger',
    'select arg_max(entry_id, value / 1e18) from ledger',
    'select max_by(entry_id, amount / 3) from ledger',
    'select first(entry_id order by value / 1e18) from ledger',
    'select count(*) filter (value / 1e18 > 5) from ledger',
    'select row_number() over (order by value / 1e18) from ledger',
    'select count(*) over (partition by value / 1e18) from ledger',
    'select wallet_address from ledger group by 1 having sum(value) / 1e18 > 10',
    'select wallet_address from ledger group by 1 having sum(value / 1e18) > 10',
    'select wallet_address from ledger group by 1 order by sum(value) / 1e18',
    'select count(*) from ledger as a join ledger as b on a.value = b.value * 1.0',
    'select count(*) from ledger as a join (select 5e18::DOUBLE as value) as b using (value)',
    'select count(*) from ledger as a asof join ledger as b on a.entry_id = b.entry_id and a.value >= b.value * 1e0',
    'select value from ledger intersect select 5e18::DOUBLE',
    'select value from ledger except all select 5e18::DOUBLE',
    'select value / 1e18 from ledger union select 5',
    'select x from (select value / 1e18 as x from ledger) where x > 5',
    'with a as (select value / 1e18 as x from ledger) select x from a where x > 5',
    'with a as materialized (select value / 1e18 as x from ledger) select x from a where x > 5',
    'select x from ledger, lateral (select value / 1e18 as x) where x > 5',
    'from ledger where value > 5 * 1e18',
    '(select entry_id from ledger where value > 5 * 1e18)',
    'pivot (select * from ledger where value > 5 * 1e18) on entry_id using sum(value)',
    'with p as (pivot (select entry_id, value from ledger where value / 2 > 1) on entry_id using sum(value)) from p',
  ])('%s', async (sql) => {
    await refused(sql).toMatchObject(ROUNDED)
  })

  test.for([
    'argmin(value, value * 7)',
    'arg_max_null(value / 2, amount / 3)',
    'min_by(entry_id, [value * 1])',
    'bool_or([value * 1] = [5e18])',
    "bool_or({'a': value * 1} = {'a': 5e18})",
    'bool_or((value * 1, 1) = (5e18, 1))',
    'bool_or(list_contains([value * 1], 5e18))',
    'bool_or(list_has_any([value], [5e18::DOUBLE]))',
    'bool_or([value]::DOUBLE[] = [5e18])',
    'bool_or(map([1], [value * 1]) = map([1], [5e18]))',
    'list(map([value * 1, 5e18], [1, 2]))',
    'list_position(list(value * 1), 5e18)',
    'list_distinct(list(value * 1))',
    'list_sort(list([value * 1]))',
    'list_filter(list(value), one -> one * 1 > 5e18)',
    'list_filter(list(value * 1), one -> one > 5e18)',
    "list_aggregate(list(value * 1), 'mode')",
    'max([value * 1])',
    'mode(value * 1)',
    'mode(value * 1) over ()',
    'histogram(value * 1)',
    'approx_count_distinct(value * 1)',
    'bool_or(value::HUGEINT / 2 > 2.5e18)',
    'bool_or(sum(value)::HUGEINT / 2 > 2.5e18) over ()',
    'bit_xor(hash(value * 1))',
    'bool_or(sign(value * 1 - 5e18) = 1)',
  ])('in containers and aggregates: %s', async (expression) => {
    await refused(`select ${expression} from ledger`).toMatchObject(ROUNDED)
  })

  test.for([
    'select distinct {x: value * 1} from ledger',
    'select [value * 1] as x from ledger order by x',
    'select x from (select unnest([value * 1]) as x from ledger) where x > 5e18',
    'with recursive a as (select value * 1 as x from ledger union select x from a) select count(*) from a',
    'select [value * 1] from ledger intersect select [5e18]',
  ])('in rows of containers: %s', async (sql) => {
    await refused(sql).toMatchObject(ROUNDED)
  })

  test('and suggests exact alternatives', async () => {
    const fix = expect.stringMatching(
      /5e18 for 5 \* 1e18.*units\(value, 18\) > 5.*round\(avg\(value\)\)::BIGNUM/,
    )
    const result = query('select 1; select 1 from ledger where value > 5 * 1e18')
    await expect(result).rejects.toMatchObject({ ...ROUNDED, fix })
  })
})

describe('refuses text that would be rounded to a number', () => {
  test.for([
    "value = '5000000000000000000.5'",
    "value >= '1.5'",
    "value = '5e18'",
    "value in ('1.5', '2')",
    "value between '0.5' and '9'",
    "value = '1.5'::BIGNUM",
    "block_number = '1.5'",
    "amount = '5.0000000000000000005'",
  ])('where %s', async (condition) => {
    await refused(`select entry_id from ledger where ${condition}`).toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('is rounded when it is converted to a'),
      fix: expect.stringContaining('without quotes'),
    })
  })

  test.for([
    'select 1 from ledger where value = entry_id',
    "select 1 from ledger join (values ('5000000000000000000.5')) as t(x) on value = x",
    "select value from ledger union all select '1.5'",
    'select sum(entry_id::BIGNUM) from ledger',
  ])('%s', async (sql) => {
    await refused(sql).toMatchObject({ code: 'USAGE' })
  })
})

test.for([
  ['select value from ledger where value > 5e18', [[VALUES[0]]]],
  ["select value from ledger where value = '5000000000000000001'", [[VALUES[0]]]],
  ["select value from ledger where amount = '5.000000000000000001000'", [[VALUES[0]]]],
  ['select value from ledger where units(value, 18) > 5', [[VALUES[0]]]],
  ['select entry_id from ledger order by value desc limit 1', [['0']]],
  ['select entry_id from ledger order by units(value, 18) desc limit 1', [['0']]],
  ['select count(*) from ledger where amount > 4.5', [[2]]],
  ['select count(*) from ledger where amount * 2 > 10', [[1]]],
  ['select count(*) from ledger where value > round(5 * 1e18)::BIGNUM', [[1]]],
  ['select count(*) from ledger where value > (select round(avg(value))::BIGNUM from ledger)', [[1]]],
  [
    'select count(*) as n from ledger group by wallet_address having avg(value) > 1 order by avg(amount)',
    [[2]],
  ],
  ['select count(*) from ledger group by wallet_address having count(*) / 7 < 1', [[2]]],
  ['select count(*) from ledger where epoch(block_timestamp) > 1.5', [[2]]],
  ['select sum(value) / 1e18 from ledger', [[10]]],
  ["select count(*) from ledger where try_cast('1.5' as BIGNUM) = 1", [[2]]],
  ['select a.entry_id from ledger as a join ledger as b on a.value = b.value + 1', [['0']]],
  [
    "select 1e400::double, -1e400::double, 'NaN\\\" -Infinity'",
    [['Infinity', '-Infinity', 'NaN\\" -Infinity']],
  ],
  ["select count(*) from ledger where block_number < 1e400 and 'nan'::double > 1", [[2]]],
  ['select avg(s) from (select wallet_address, sum(value) / 1e18 as s from ledger group by 1)', [[10]]],
] as const)('allows %s', async ([sql, expected]) => {
  expect(await query(sql)).toEqual(expected)
})

test.for([
  'max(value / 1e18)',
  'list(value / 1e18)',
  "{'a': value, 'b': value / 2}",
  '[value / 1e18][1]',
  'arg_max(value / 1e18, value)',
  'map([entry_id], [value / 2])',
  "format('{:.2f}', value / 1e18)",
  "round(value / 1e18, 2) || ' AVAX'",
  'median(value / 1e18)',
  'list_distinct(list(value))',
  'list_transform(list(value), one -> one / 1e18)',
  'lag(value / 1e18) over (order by value)',
  'max({x: value})',
  '[value] = [5e18]',
  "{'a': value, 'b': epoch(block_timestamp)} = {'a': 1, 'b': 2}",
  'histogram(value)',
  'sum(value)::HUGEINT',
  'sum(block_number) / 2 > 1',
  'argmin(entry_id, value)',
])('allows %s, which is exact or shown as floating point', async (expression) => {
  await check(`select ${expression} from ledger`)
})

test.for([
  'select "native" from (pivot ledger on asset_type using sum(value)) where "native" / 2 > 1',
  'select "0_native" from (pivot ledger on entry_id, asset_type using sum(value)) order by "0_native" / 2',
  'from (pivot (pivot ledger on entry_id using sum(value)) on asset_type using max("0" / 2)) where native > 1',
])('checks the columns of a PIVOT whose values DuckDB finds: %s', async (sql) => {
  await expect(query(sql)).rejects.toMatchObject(ROUNDED)
})

test('refuses a statement that cannot be planned and therefore not be checked', async () => {
  const sql = 'pivot ledger on direction in (select distinct direction from ledger) using sum(value / 2)'
  await expect(query(sql)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('cannot be checked for rounding'),
    fix: expect.stringContaining('or omit IN'),
  })
})

test.for([
  ['pivot t on a using sum(b)', 'pivot t on a IN (NULL) using sum(b)'],
  ['pivot t on a, b group by c', 'pivot t on a IN (NULL), b IN (NULL) group by c'],
  ["pivot t on a in ('x'), b", "pivot t on a in ('x'), b IN (NULL)"],
  ['with p as (pivot t on f(a, 1)) from p', 'with p as (pivot t on f(a, 1) IN (NULL)) from p'],
  [
    'pivot (from x join y on x.a = y.a) on a limit 1',
    'pivot (from x join y on x.a = y.a) on a IN (NULL) limit 1',
  ],
  ["from t pivot (sum(b) for a in ('x'))", "from t pivot (sum(b) for a in ('x'))"],
  ['select "pivot" from t join u on a = b', 'select "pivot" from t join u on a = b'],
] as const)('%s is planned as %s', ([sql, planned]) => {
  const found = withPivotValues(sqlTokens(sql), []).map(({ text }) => text)
  expect(
    found
      .join('')
      .replaceAll(/ +/g, ' ')
      .replaceAll(/ (?=[,)])| $/g, ''),
  ).toBe(planned)
})
