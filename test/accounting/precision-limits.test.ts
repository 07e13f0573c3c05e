import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { LONG_SUMS, WHOLE_UNITS } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'

const folder = suiteFolder()
const [output, prices] = [join(folder, 'out'), join(folder, 'prices.csv')]

beforeAll(async () => {
  await exportMadeUp(output, LONG_SUMS)
  const priced = ['native', 'USDC', 'WETH.e', 'HEAP', 'FINE'].flatMap((asset) =>
    ['01', '02', '03'].map((day) => `2024-01-${day},${asset},USD,1`),
  )
  writeFileSync(prices, `date,asset,currency,price\n${priced.join('\n')}\n`)
})

/** Lists the symbol and reason of each completely omitted movement. */
async function omittedMovements(to: string, from?: string) {
  const out = join(folder, `${to}-${from}`)
  const { omittedFile } = await convert(output, { to, out, from, prices })
  if (omittedFile === undefined) return []
  const listed: Record<string, string>[] = parse(readFileSync(omittedFile), { columns: true })
  const whole = listed.filter(({ reason }) => !reason?.startsWith('rounded'))
  return whole.map(({ reason, asset_symbol }) => `${asset_symbol}: ${reason}`).sort()
}

const times = (count: number, text: string) => Array.from({ length: count }, () => text)

test.for(['bittytax', 'beancount'])('omits assets whose sums may exceed 28 digits for %s', async (to) => {
  const reason = `more than 28 digits, which ${to} rounds`
  expect(await omittedMovements(to)).toEqual([
    ...times(2, `FINE: ${reason}`),
    ...times(2, `HEAP: ${reason}`),
    ...times(3, `WETH.e: ${reason}`),
  ])
})

test('omits such an asset for every period', async () => {
  expect(await omittedMovements('bittytax', '2024-01-03')).toEqual([
    'WETH.e: more than 28 digits, which bittytax rounds',
  ])
})

test('writes the amount that was paid for such an asset', async () => {
  await omittedMovements('bittytax')
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, 'bittytax-undefined')), {
    columns: true,
  })
  expect(rows.at(-1)).toMatchObject({ Type: 'Withdrawal', 'Sell Quantity': '5', 'Buy Quantity': '' })
})

test('omits assets whose sums exceed 31 digits after truncation to 11 decimals for rp2', async () => {
  expect(await omittedMovements('rp2')).toEqual(times(2, 'HEAP: more than 31 digits, which rp2 rounds'))
})

test('omits no asset for a format without a limit', async () => {
  expect(await omittedMovements('cointracking')).toEqual([])
})

describe('a conversion for rp2, which cannot compare numbers with more than 18 digits before the point,', () => {
  const large = join(folder, 'large')
  const [largePrices, out] = [join(folder, 'large-prices.csv'), join(folder, 'large-rp2')]

  beforeAll(async () => {
    await exportMadeUp(large, WHOLE_UNITS)
    const days = ['native,1', 'MANY,0.000001', 'EDGE,1', 'MOVED,1'].flatMap((asset) =>
      ['01', '03'].map((day) => `2024-01-${day},${asset.replace(',', ',USD,')}`),
    )
    const dear = ['2024-01-01,DEAR,USD,1', '2024-01-03,DEAR,USD,2']
    writeFileSync(largePrices, ['date,asset,currency,price', ...days, ...dear, ''].join('\n'))
  })

  test('omits assets whose amounts or values have more', async () => {
    await convert(large, { to: 'rp2', out, prices: largePrices })
    const listed: Record<string, string>[] = parse(readFileSync(`${out}.omitted.csv`), { columns: true })
    const reason = 'more than 18 digits before the point, on which rp2 fails'
    const whole = listed.filter((row) => !row.reason?.startsWith('rounded'))
    expect(whole.map((row) => `${row.asset_symbol}: ${row.reason}`).sort()).toEqual([
      `DEAR: ${reason}`,
      `MANY: ${reason}`,
    ])
    expect(readFileSync(join(out, 'in.csv'), 'utf8')).toContain(',999999999999999999,')
    expect(readFileSync(join(out, 'out.csv'), 'utf8')).toContain(',600000000000000000,')
  })

  test.for([
    { amount: '999999999999999999', price: '1', problems: 0 },
    { amount: '1000000000000000000', price: '1', problems: 2 },
    { amount: '600000000000000000', price: '1.7', problems: 1 },
  ])('is checked for such numbers: $amount at the price $price', async ({ amount, price, problems }) => {
    await convert(large, { to: 'rp2', out, prices: largePrices })
    const file = join(folder, 'checked.csv')
    const text = readFileSync(join(out, 'in.csv'), 'utf8')
    writeFileSync(file, text.replace(/,1,999999999999999999,/, `,${price},${amount},`))
    const found: string[] = []
    await checkFile(file, 'rp2', ({ what }) => found.push(what))
    expect(found.filter((what) => what.includes('digits before the point'))).toHaveLength(problems)
    expect(found).toHaveLength(problems)
  })
})
