import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { queryExport } from '../../src/read/query-export.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { type Cells, goodLake } from '../verify/export/model-export.ts'
import { writeLake } from '../verify/export/write-model-export.ts'

const output = join(suiteFolder(), 'export')
const HUGE = String(2n ** 256n - 1n)
/** Together they need more digits than a DECIMAL has. */
const AMOUNTS = ['10', '-0.5', HUGE, '9']

beforeAll(async () => {
  const lake = goodLake()
  const entry = lake.ledger[0] as Cells
  lake.ledger = AMOUNTS.map((amount, at) => ({ ...entry, entry_id: `${at}`, amount }))
  await writeLake(output, lake)
})

async function query(sql: string): Promise<unknown[][]> {
  const rows: unknown[][] = []
  for await (const { batches } of queryExport(output, sql))
    for await (const batch of batches) rows.push(...batch.map((row) => [...row]))
  return rows
}

/** Different kinds of use first. */
const REFUSED = [
  "select amount || ' AVAX' from ledger",
  'select amount::varchar from ledger',
  "select count(*) from ledger where amount like '-0.%'",
  "select string_agg(amount, ';') from ledger",
  'select to_json(amount) from ledger',
  'select list(amount)::varchar from ledger',
  'select median(amount) from ledger',
  'select entry_id from ledger order by amount::varchar',
  'pivot ledger on amount using count(*)',
  'from (summarize ledger)',
  "select units(sum(value), 18) || ' AVAX', amount from ledger group by amount",
  "select count(*) from ledger where amount::varchar like '-0.%'",
  'select try_cast(amount as double) from ledger',
  'select left(amount::varchar, 6) from ledger',
  "select concat(amount, ';'), amount from ledger",
  "select format('{}', amount) from ledger",
  "select printf('%s', amount) from ledger",
  "select json_object('a', amount) from ledger",
  'select json_group_array(amount) from ledger',
  "select array_to_string(list(amount), ',') from ledger",
  'select list_transform(list(amount), x -> x::varchar) from ledger',
  "select {'a': amount}::varchar from ledger",
  "select to_json({'a': [amount]}) from ledger",
  'select arg_max(amount, block_number)::varchar from ledger',
  'select first_value(amount) over ()::varchar from ledger',
  'select map([amount], [1]) from ledger',
  'select histogram(amount) from ledger',
  'select median(amount) over () from ledger',
  'select amount.plain from ledger',
  'select unnest(amount) from ledger',
  'select units_text(amount, 2) from ledger',
  "select coalesce(amount, '5') from ledger",
  "select x || '' from (select amount as x from ledger)",
  "with a as materialized (select amount as x from ledger) select x || '' from a",
  'select count(*) from ledger group by amount::varchar',
  'select count(*) from ledger as a join ledger as b on a.amount::varchar = b.entry_id',
  "select string_agg(entry_id, ';' order by amount::varchar) from ledger",
  'summarize select left(amount::varchar, 6) from ledger',
]
testSample(
  10,
  REFUSED,
  'refuses to use an amount of more than 38 digits as text or number: %s',
  async (sql) => {
    await expect(query(sql)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(
        /^amount has up to 78 digits before the point and \d+ after it: .* text functions$/,
      ),
      fix: expect.stringContaining('for text and casts write units_text(value, 18)'),
    })
  },
)

const [TEN, NEGATIVE, , NINE] = AMOUNTS
const ALLOWED = [
  ['select list(amount order by amount) from ledger', [[[NEGATIVE, NINE, TEN, HUGE]]]],
  ["select {'a': [amount]} as nested from ledger limit 1", [[{ a: [TEN] }]]],
  ["select {'a': amount}.a, [amount][1], l.amount from ledger as l limit 1", [[TEN, TEN, TEN]]],
  ['select arg_max(amount, entry_id), max(amount, 2) from ledger', [[NINE, [HUGE, TEN]]]],
  [
    'select greatest(amount, units(100, 1)), amount between units(9, 0) and units(10, 0) from ledger limit 1',
    [[TEN, true]],
  ],
  [
    'select coalesce(nullif(amount, units(10, 0)), null), amount is null from ledger limit 1',
    [[null, false]],
  ],
  [
    'select lag(amount) over (order by amount) from ledger order by amount',
    [[null], [NEGATIVE], [NINE], [TEN]],
  ],
  [
    "select string_agg(entry_id, ';' order by amount desc) filter (amount > units(0, 0)) from ledger",
    [['2;0;3']],
  ],
  ['select amount from ledger where amount = (select max(amount) from ledger)', [[HUGE]]],
  [
    'select count(*) from ledger where amount in (select amount from ledger) and amount not in (units(9, 0), units(10, 0))',
    [[2]],
  ],
  [
    'select amount, count(distinct amount) from ledger group by amount order by amount limit 1',
    [[NEGATIVE, 1]],
  ],
  ['select unnest(list(amount)) from ledger limit 1', [[TEN]]],
  ['select amount from ledger union all select null order by amount nulls first limit 1', [[null]]],
  ["pivot ledger on entry_id in ('0') using max(amount) group by chain_id", [['43114', TEN]]],
  ['unpivot (select entry_id, amount from ledger limit 1) on amount', [['0', 'amount', TEN]]],
  ["select units_text(sum(value), 18) || ' AVAX' from ledger where false and amount is null", [[null]]],
] as const
testSample(
  6,
  ALLOWED,
  'sorts, compares and returns amounts of more than 38 digits: %s',
  async ([sql, expected]) => {
    expect(await query(sql)).toEqual(expected)
  },
)

test('describes and summarizes amounts of more than 38 digits without their internal type', {
  tags: ['long'],
}, async () => {
  const type = 'DECIMAL of more than 38 digits'
  const amountOf = async (sql: string) => (await query(sql)).find(([name]) => name === 'amount')
  expect((await amountOf('describe ledger'))?.slice(0, 2)).toEqual(['amount', type])
  expect((await amountOf('summarize ledger'))?.slice(0, 4)).toEqual(['amount', type, NEGATIVE, HUGE])
  expect((await query('select typeof(amount), typeof(value) from ledger limit 1'))[0]).toEqual([
    type,
    'BIGNUM',
  ])
  const text = `STRUCT(order_key VARCHAR, plain VARCHAR) in a text`
  expect((await query(`select '${text}', typeof(amount) from ledger limit 1`))[0]).toEqual([text, type])
  const nested = await query('summarize select list(amount) as l from ledger')
  expect(nested[0]?.[2]).toBe(`[${AMOUNTS.join(', ')}]`)
})
