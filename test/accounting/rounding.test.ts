import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { exportMadeUp } from './made-up-export.ts'
import { DAI, PEPE, ROUNDING_CHAIN } from './rounding-chain.ts'

const folder = suiteFolder()
const [output, prices] = [join(folder, 'output'), join(folder, 'prices.csv')]

beforeAll(async () => {
  await exportMadeUp(output, ROUNDING_CHAIN)
  const days = ['2023-12-30', '2023-12-31', '2024-01-01']
  const lines = days.flatMap((day) => [DAI, PEPE].map((token) => `${day},${token.address},USD,1`))
  writeFileSync(prices, ['date,asset,currency,price', ...lines, ''].join('\n'))
})

const recordsOf = (file: string): Record<string, string>[] => parse(readFileSync(file), { columns: true })

async function problemsOf(file: string, to: string): Promise<string[]> {
  const problems: string[] = []
  await checkFile(file, to, ({ line, what }) => problems.push(`${line}: ${what}`))
  return problems
}

test('rp2 gets no more of an asset sent than received, and the list has the rest', async () => {
  const out = join(folder, 'rp2')
  const { omittedFile = '' } = await convert(output, { to: 'rp2', out, prices })
  const amounts = ['in', 'intra', 'out'].map((name) =>
    recordsOf(join(out, `${name}.csv`))
      .filter(({ asset }) => asset?.startsWith('DAI'))
      .map((row) => row.crypto_in ?? row.crypto_sent ?? row.crypto_out_no_fee),
  )
  expect(amounts).toEqual([['1', '1'], ['1'], ['2']])
  expect(await problemsOf(out, 'rp2')).toEqual([])
  const sums = new Map<string, bigint>()
  for (const { wallet_address: wallet = '', value = '' } of recordsOf(omittedFile))
    sums.set(wallet, (sums.get(wallet) ?? 0n) + BigInt(value))
  expect([...sums.values()].every((sum) => sum > -(10n ** 9n) && sum < 10n ** 9n)).toBe(true)
})

test('a file of one year continues the remainders of the years before', async () => {
  const years = await Promise.all(
    ['2023', '2024'].map(async (year) => {
      const out = join(folder, `${year}.csv`)
      const { movements } = await convert(output, {
        to: 'cointracker',
        out,
        from: `${year}-01-01`,
        until: `${year}-12-31`,
      })
      return { movements, records: recordsOf(out) }
    }),
  )
  const out = join(folder, 'whole.csv')
  await convert(output, { to: 'cointracker', out })
  expect(years.flatMap(({ records }) => records)).toEqual(recordsOf(out))
  expect(years.map(({ movements }) => movements)).toEqual([6, 3])
  expect(await problemsOf(out, 'cointracker')).toEqual([])
})

test('the check finds an oversell by rounding, and for rp2 any other', async () => {
  const out = join(folder, 'oversold')
  await convert(output, { to: 'rp2', out, prices })
  const sold = join(out, 'out.csv')
  const [correct, oversold] = [
    readFileSync(sold, 'utf8'),
    (more: string) => correct.replace(',2,0,', `,${more},0,`),
  ]
  const name = /DAI-\w+/.exec(correct)?.[0]
  writeFileSync(sold, oversold('2.00000000001'))
  expect(await problemsOf(out, 'rp2')).toEqual([
    `2: more of ${name} of Ann main is sent than was received before, because amounts are rounded`,
  ])
  writeFileSync(sold, oversold('3'))
  expect(await problemsOf(out, 'rp2')).toEqual([
    `2: more of ${name} of Ann main is sent than was received before`,
  ])
  const file = join(folder, 'cointracker.csv')
  const header =
    'Date,Received Quantity,Received Currency,Sent Quantity,Sent Currency,Fee Amount,Fee Currency,Tag'
  const lines = ['01/01/2024 00:00:00,1,DAI,,,,,', '01/02/2024 00:00:00,,,1.00000001,DAI,,,', '']
  writeFileSync(file, [header, ...lines].join('\n'))
  expect(await problemsOf(file, 'cointracker')).toEqual([
    '3: more of DAI is sent than was received before, because amounts are rounded',
  ])
  writeFileSync(file, [header, ...lines].join('\n').replace('1.00000001', '7'))
  expect(await problemsOf(file, 'cointracker')).toEqual([])
  expect(readdirSync(out).sort()).toEqual(['in.csv', 'intra.csv', 'out.csv'])
})
