import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fiatValueOf, impliedPrice, readPrices } from '../../../src/ledger/prices/prices.ts'
import { COIN, nft, token } from '../../accounting/made-up.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const folder = suiteFolder()
const USDC = token('USDC')
const [one, other] = [token('TWIN'), { ...token('TWIN'), address: `0x${'7'.repeat(40)}` }]
const assets = [COIN, USDC, one, other]

const read = (...lines: string[]) => readLines(['date,asset,currency,price', ...lines])

function readLines(lines: readonly string[]) {
  const file = join(folder, 'prices.csv')
  writeFileSync(file, [...lines, ''].join('\n'))
  return readPrices(file, { chain: '43114', assetsOf: async () => assets })
}

describe("the user's prices", () => {
  test.for([
    { at: '2024-03-02T00:00:00.000Z', is: '2', why: 'apply from the first second of their day' },
    { at: '2024-03-02T23:59:59.999Z', is: '2', why: 'apply until the end of their day' },
    {
      at: '2024-03-01T23:59:59.999Z',
      is: '1',
      why: 'do not apply to the last millisecond of the day before',
    },
    { at: '2024-03-03T12:00:00.000Z', is: '2', why: 'apply for 36 hours' },
    { at: '2024-03-03T12:00:00.001Z', is: undefined, why: 'do not apply for longer than 36 hours' },
    { at: '2024-02-29T23:59:59.999Z', is: undefined, why: 'do not apply to the past' },
    { at: '2024-03-05T08:30:00.000Z', is: '3.5', why: 'apply from their instant' },
  ])('$why ($at)', async ({ at, is }) => {
    const prices = await read(
      '2024-03-02,native,USD,2',
      '2024-03-05T08:30:00Z,native,usd,3.5',
      '2024-03-01,native,USD,1',
      '2024-03-04,native,USD,',
    )
    expect(prices.at(COIN, at)).toBe(is)
    expect(prices.currency).toBe('USD')
  })

  // A look-up of each price in the list of all earlier ones takes minutes
  test('can be an hourly list of eleven years, in any order', { tags: ['long'] }, async () => {
    const [hours, start] = [100_000, Date.parse('2014-01-01')]
    const timeOf = (hour: number) => new Date(start + hour * 3_600_000).toISOString()
    const lines = Array.from({ length: hours }, (_, at) => {
      const hour = (at * 7_919) % hours
      return `${timeOf(hour).slice(0, 19)}Z,AVAX,USD,${hour}`
    })
    const prices = await read(...lines)
    expect(prices.all(COIN)).toHaveLength(hours)
    for (const hour of [0, 1, 50_000, hours - 1]) expect(prices.at(COIN, timeOf(hour))).toBe(String(hour))
  })

  test('are found by contract, by native, or by a symbol that only one asset has', async () => {
    const prices = await read(
      `2024-03-01,${USDC.address?.toUpperCase().replace('0X', '0x')},EUR,0.9`,
      '2024-03-01,AVAX,EUR,30',
      '2024-03-01,DOGE,EUR,1',
    )
    const at = '2024-03-01T05:00:00.000Z'
    expect([prices.at(USDC, at), prices.at(COIN, at), prices.at(one, at)]).toEqual(['0.9', '30', undefined])
    expect(prices.at({ ...nft('USDC', '1'), address: USDC.address }, at)).toBeUndefined()
    expect(prices.all(COIN)).toEqual([{ from: Date.parse('2024-03-01'), price: '30' }])
  })

  test.for([
    { line: '2024-02-30,native,USD,1', says: ':2: found date 2024-02-30' },
    { line: '01.03.2024,native,USD,1', says: ':2: found date 01.03.2024' },
    { line: '2024-03-01,native,USD,"1,5"', says: ':2: found price 1,5, expected a decimal point, as in 1.5' },
    { line: '2024-03-01,native,USD,-1', says: ':2: found price -1' },
    { line: '2024-03-01,native,USD,1e3', says: ':2: found price 1e3' },
    { line: '2024-03-01,native,,1', says: ':2: found currency empty' },
    { line: ',native,USD,1', says: ':2: found date empty' },
    { line: '2024-03-01,native,$,1', says: ':2: found currency $' },
    {
      line: '2024-03-01,TWIN,USD,1',
      says: `found asset TWIN, the symbol of ${one.address} and ${other.address}`,
    },
    { line: '2024-03-01,native,USD,', says: 'contains no price' },
    { line: '2024-03-01,native,USD,1\n2024-03-01,native,USD,2', says: ':3: found a second price of native' },
    {
      line: '2024-03-01,native,USD,1\n2024-03-02,native,EUR,2',
      says: ':3: found currency EUR, expected USD',
    },
  ])('are rejected with their line: $says', async ({ line, says }) => {
    await expect(read(line)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(says),
      fix: expect.any(String),
    })
  })
})

describe('prices with a chain', () => {
  const readChains = (...lines: string[]) => readLines(['chain,date,asset,currency,price', ...lines])
  const [day, time] = ['2024-03-01', '2024-03-01T05:00:00.000Z']

  test('apply to this chain only, whatever its spelling; those without a chain apply too', async () => {
    const prices = await readChains(
      `43114,${day},native,USD,1`,
      `1,${day},native,USD,2`,
      `,${day},${USDC.address},USD,3`,
      `0xa86a,${day},${one.address},USD,4`,
      ` Avalanche ,${day},${other.address},USD,5`,
    )
    expect([COIN, USDC, one, other].map((asset) => prices.at(asset, time))).toEqual(['1', '3', '4', '5'])
  })

  test('of another chain can name assets that this chain lacks or has twice', async () => {
    const prices = await readChains(`1,${day},TWIN,USD,1`, `1,${day},DOGE,USD,2`)
    expect([prices.currency, prices.all(one)]).toEqual(['USD', []])
  })

  test.for([
    { lines: [`moon,${day},native,USD,1`], says: ':2: found chain moon, expected an id such as 43114' },
    {
      lines: [`,${day},native,USD,1`, `43114,${day},native,USD,1`],
      says: ':3: found a second price of native',
    },
    {
      lines: [`,${day},native,USD,1`, `1,${day},native,EUR,1`],
      says: ':3: found currency EUR, expected USD',
    },
  ])('are rejected with their line: $says', async ({ lines, says }) => {
    await expect(readChains(...lines)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(says),
    })
  })
})

describe('the fiat value of an amount', () => {
  test.for([
    { value: 1n, decimals: 18, price: '1', is: '0' },
    { value: 10n ** 18n, decimals: 18, price: '18.3412', is: '18.3412' },
    { value: 1n, decimals: 0, price: '0.000000005', is: '0' },
    { value: 3n, decimals: 0, price: '0.000000005', is: '0.00000002' },
    { value: 1n, decimals: 0, price: '0.0000000050000001', is: '0.00000001' },
    { value: 2n ** 256n - 1n, decimals: 0, price: '3', is: String((2n ** 256n - 1n) * 3n) },
    { value: 123n, decimals: 255, price: `1${'0'.repeat(50)}`, is: '0' },
    { value: 5n, decimals: 1, price: '3', is: '1.5' },
    { value: -3n, decimals: 0, price: '0.000000005', is: '-0.00000002' },
    { value: -5n, decimals: 9, price: '0.9', is: '0' },
    { value: -7n, decimals: 9, price: '1', is: '-0.00000001' },
  ])(
    'is multiplied exactly: $value with $decimals decimals at $price is $is',
    ({ value, decimals, price, is }) => {
      expect(fiatValueOf(value, decimals, price)).toBe(is)
    },
  )
})

describe('the implied price of an acquired asset', () => {
  const whole = { value: 1n, decimals: 0 }
  test.for([
    { acquired: { value: 25n, decimals: 1 }, disposed: { value: 500n, decimals: 2 }, price: '1.5', is: '3' },
    { acquired: { value: 3n, decimals: 0 }, disposed: whole, price: '2', is: '0.666666666666666667' },
    {
      acquired: { value: 2n, decimals: 0 },
      disposed: whole,
      price: `0.${'1'.padStart(18, '0')}`,
      is: undefined,
    },
    {
      acquired: { value: 2n, decimals: 0 },
      disposed: whole,
      price: `0.${'3'.padStart(18, '0')}`,
      is: `0.${'2'.padStart(18, '0')}`,
    },
    { acquired: whole, disposed: { value: 1n, decimals: 255 }, price: '1', is: undefined },
    { acquired: { value: 1n, decimals: 255 }, disposed: whole, price: '7', is: `7${'0'.repeat(255)}` },
    { acquired: whole, disposed: whole, price: '0', is: '0' },
  ])(
    'is divided exactly: $disposed.value at $price for $acquired.value is $is',
    ({ acquired, disposed, price, is }) => {
      expect(impliedPrice(acquired, disposed, price)).toBe(is)
    },
  )
})
