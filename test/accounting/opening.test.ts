import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import { FORMAT_NAMES } from '../../src/accounting/formats.ts'
import { pricesNeeded } from '../../src/accounting/needed.ts'
import type { ConvertOptions } from '../../src/accounting/options.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { parseCsv } from '../../src/read/csv-records.ts'
import { runCommand } from '../helpers/command.ts'
import { writePrices } from '../helpers/prices.ts'
import { suiteFolder, tempFile, tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { GOLDEN_CHAIN, WALLETS } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const [ANN = '', BEN = ''] = WALLETS.map(({ address }) => address)
const [USDC, APES, ABSENT] = ['c', '7', 'f'].map((digit) => `0x${digit.repeat(40)}`)
/** One second before the first row of the golden chain. */
const TIME = '2023-12-31T23:59:57Z'
const HEADER = 'wallet_address,asset_type,asset_address,token_id,value,amount'
const LINES = [
  `${BEN},native,,,,2.5`,
  `${ANN},native,,,,10`,
  `${ANN},erc20,${USDC},,7000000,`,
  `${ANN},erc721,${APES},99,1,`,
  `${BEN},erc20,${USDC},,-1,`,
]
const opening = join(folder, 'opening.csv')

beforeAll(async () => {
  await exportMadeUp(output, GOLDEN_CHAIN, '43114')
  writeFileSync(opening, [HEADER, ...LINES, ''].join('\n'))
})

async function convertTo(to: string, options: Partial<ConvertOptions> = {}) {
  const out = join(tempFolder(), 'file')
  const result = await convert(output, { to, out, opening, map: `${out}.map`, ...options })
  const read = (path = out) => readFileSync(path, 'utf8')
  return { ...result, out, text: result.files.includes(out) ? read() : '', read }
}

function writeOpening(...lines: string[]): string {
  return tempFile('opening.csv', [HEADER, ...lines, ''].join('\n'))
}

test('writes a line per opening balance before all others, and changes no other line', async () => {
  const { text, movements } = await convertTo('generic')
  const without = await convertTo('generic', { opening: undefined })
  const [header, ...rows] = parseCsv(text)
  expect([header, ...rows.slice(LINES.length)]).toEqual(parseCsv(without.text))
  expect(movements).toBe(without.movements + LINES.length)
  expect(rows.slice(0, LINES.length).map((cells) => cells.slice(0, 7))).toEqual([
    [TIME, 'opening', '10', 'AVAX', '', '', ''],
    [TIME, 'opening', '7', 'USDC-cccccccc', USDC, '', ''],
    [TIME, 'opening', '1', 'APE-77777777-721#99', APES, '', ''],
    [TIME, 'opening', '2.5', 'AVAX', '', '', ''],
    [TIME, 'out', '', '', '', '0.000001', 'USDC-cccccccc'],
  ])
})

test('names a token without rows by its ticker, with the decimals of the table of well-known tokens', async () => {
  const usdt = '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7'
  const { text } = await convertTo('generic', {
    opening: writeOpening(`${ANN},erc20,${usdt},,500000000,`),
  })
  expect(parseCsv(text)[1]?.slice(0, 5)).toEqual([TIME, 'opening', '500', 'USDT', usdt])
})

test('leads to the balances with the same opening balances', async () => {
  const { text } = await convertTo('generic')
  const sums = new Map<string, number>()
  for (const [, , received, into, , sent, out, , , , wallet] of parseCsv(text).slice(1)) {
    for (const [amount, asset, sign] of [[received, into, 1] as const, [sent, out, -1] as const])
      if (asset === 'AVAX') sums.set(`${wallet}`, (sums.get(`${wallet}`) ?? 0) + sign * Number(amount))
  }
  const { balances: held } = await balances(output, { opening })
  const coins = held.filter(({ asset_type }) => asset_type === 'native')
  const rounded = (amounts: Iterable<number>) => [...amounts].map((one) => one.toFixed(9)).sort()
  expect(coins).toHaveLength(2)
  expect(rounded(sums.values())).toEqual(rounded(coins.map(({ amount }) => Number(amount))))
})

/** One with placeholders, one of several files, a journal and the one that lists no opening balances, then the others. */
const FORMATS = [
  'koinly',
  'rp2',
  'beancount',
  'etherscan',
  ...FORMAT_NAMES.filter((to) => !/^(koinly|rp2|beancount|etherscan)$/.test(to)),
]
testSample(4, FORMATS, 'in files for %s opening balances pass the check of the format', async (to) => {
  const prices = await writePrices(output, join(tempFolder(), 'prices.csv'))
  const { files, lines } = await convertTo(to, { prices })
  const mistakes: string[] = []
  for (const file of files.filter((path) => !path.endsWith('omitted.csv')))
    await checkFile(file, to, ({ line, what }) => mistakes.push(`${line}: ${what}`))
  expect(mistakes).toEqual([])
  const without = await convertTo(to, { prices, opening: undefined })
  if (to === 'etherscan') expect(lines).toBe(without.lines)
  else expect(lines).toBeGreaterThan(without.lines)
})

test.for([
  {
    to: 'hledger',
    account: 'equity:opening balances',
    header: '2023-12-31 opening balance  ; time:23:59:57',
  },
  { to: 'beancount', account: 'Equity:Opening-Balances', header: '2023-12-31 * "opening balance"\n' },
])('$to takes opening balances from the account $account', async ({ to, account, header }) => {
  const { text } = await convertTo(to)
  expect(text).toContain(header)
  expect(text).toMatch(new RegExp(`^ +${account} +-10 "?AVAX"?`, 'm'))
})

test('lists opening balances that the format cannot hold', async () => {
  const { omitted, omittedFile, read } = await convertTo('etherscan')
  expect(omitted['an opening balance, which explorers do not list']).toBe(LINES.length)
  expect(parseCsv(read(omittedFile)).length).toBeGreaterThan(LINES.length)
  const { omitted: unknown } = await convertTo('generic', {
    opening: writeOpening(`${ANN},erc20,${ABSENT},,5,`),
  })
  expect(Object.values(unknown)).toContain(2)
})

test('numbers assets for Koinly that only opening balances have', async () => {
  const { read, out } = await convertTo('koinly')
  const [, ...numbers] = parseCsv(read(`${out}.map`))
  expect(numbers.at(-1)?.slice(1, 5)).toEqual(['43114', 'erc721', APES, '99'])
  expect(parseCsv(read()).find((cells) => cells[4] === numbers.at(-1)?.[0])?.[3]).toBe('1.0')
})

test.for([
  { from: '2023-12-31', until: '2023-12-31', lines: LINES.length },
  { from: '2024-01-01', until: undefined, lines: 0 },
])('the period from $from until $until has $lines opening balances', async ({ from, until, lines }) => {
  const { text } = await convertTo('generic', { from, until })
  expect(parseCsv(text).filter(([date]) => date === TIME)).toHaveLength(lines)
})

test('labels assign types by the method "opening balance"', async () => {
  const labels = tempFile('labels.csv', 'match,type\nopening balance,Income\n')
  const { text } = await convertTo('cointracking', { labels })
  const types = parseCsv(text)
    .slice(1, 6)
    .map(([type]) => type)
  expect(types).toEqual(['Income', 'Income', 'Income', 'Income', 'Withdrawal'])
})

test('counts opening balances in the digits that a program would round', async () => {
  const huge = writeOpening(`${ANN},native,,,${'9'.repeat(40)},`)
  const { omitted } = await convertTo('bittytax', { opening: huge })
  expect(Object.keys(omitted)).toContain('more than 28 digits, which bittytax rounds')
  expect((await convertTo('bittytax', { opening: undefined })).text).toContain('AVAX')
})

test('needs prices for opening balances', async () => {
  const file = writeOpening(`${ANN},erc20,${ABSENT},,5,`)
  const needed = await pricesNeeded(output, { opening: file })
  expect(needed.filter(({ asset }) => asset === ABSENT)).toMatchObject([{ date: '2023-12-31' }])
})

test('the command reports lines that are not filled in, and rejects wallets that the export lacks', async () => {
  const file = writeOpening(`${ANN},native,,,,1`, `${BEN},native,,,,`)
  const { exit, stderr } = await runCommand(['convert', output, '--to', 'generic', '--opening', file])
  expect(exit).toBe(0)
  expect(stderr).toContain(`1 line of ${file} without an amount or a value: skipped`)
  const unknown = writeOpening(`${ABSENT},native,,,,1`)
  const failed = await runCommand(['convert', output, '--to', 'generic', '--opening', unknown])
  expect(failed.exit).toBe(2)
})
