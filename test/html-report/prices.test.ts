import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { report } from '../../src/html-report/report.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo, genesisCsv } from '../helpers/demo-export.ts'
import { testJob } from '../helpers/jobs.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { cellText, tableOf, tablesWithTotals } from './read-page.ts'

const folder = suiteFolder()
const output = join(folder, 'demo')
const prices = join(folder, 'prices.csv')
/** Some wallets with movements on all days, with and without USDC, and one without movements. */
const addresses = demoWallets.slice(30, 44)
let page = ''
let ledger: TextRow[] = []
let token = ''
let lastDay = ''
/** Prices in cents. The price of the coin changes to `LATER` on the last day. */
const [EARLIER, LATER, TOKEN] = [1_834n, 2_001n, 7n]

beforeAll(async () => {
  await exportDemo(output, { addresses })
  ledger = await readCsvTable(output, 'ledger')
  lastDay = ledger.at(-1)?.block_timestamp?.slice(0, 10) ?? ''
  token = ledger.find(({ asset_symbol }) => asset_symbol === 'USDC')?.asset_address ?? ''
  writePrices(prices, [
    `${firstDay()},native,EUR,18.34`,
    `${lastDay},native,EUR,20.01`,
    `${lastDay},${token},EUR,0.07`,
  ])
  page = readFileSync((await report([output], { prices })).file, 'utf8')
})

const firstDay = () => ledger[0]?.block_timestamp?.slice(0, 10) ?? ''

function writePrices(file: string, lines: string[]): void {
  writeFileSync(file, ['date,asset,currency,price', ...lines, ''].join('\n'))
}

/** Independent calculation: an amount times a price in cents, in units of 10^-8, rounded half to even. */
function product(value: bigint, decimals: bigint, cents: bigint): bigint {
  const [exact, unit] = [(value < 0n ? -value : value) * cents * 10n ** 6n, 10n ** decimals]
  const [whole, twice] = [exact / unit, (exact % unit) * 2n]
  const rounded = twice > unit || (twice === unit && whole % 2n === 1n) ? whole + 1n : whole
  return value < 0n ? -rounded : rounded
}

function money(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(9, '0')
  const text = `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, '')
  return value < 0n ? `-${text}` : text
}

/** A decimal as an integer in units of 10^-80; 0 for a dash. */
function scaled(text: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?/.exec(text) ?? []
  return BigInt(`${sign}${whole}${fraction.padEnd(80, '0')}`)
}

const sum = (values: readonly bigint[]) => values.reduce((all, one) => all + one, 0n)

/** The genesis balances of some wallets. */
function genesisOf(wallets: readonly string[]): string {
  const [header, ...lines] = genesisCsv().split('\n')
  const own = lines.filter((line) => wallets.includes(line.slice(0, 42).toLowerCase()))
  return [header, ...own, ''].join('\n')
}

describe('a report with a price file', () => {
  test('shows the exact fiat value of each balance', async () => {
    const coins = (await balances(output, { all: true })).balances.filter(
      ({ asset_type }) => asset_type === 'native',
    )
    const shown = tableOf(page, 'Balances at the end: AVAX').map((cells) => cells[2])
    const expected = coins.map(({ value }) => (value === 0n ? '–' : money(product(value, 18n, LATER))))
    expect(shown.sort()).toEqual(expected.sort())
  })

  test('sums fiat values by wallet and in total', async () => {
    const wallets = new Map<string, bigint>()
    for (const one of (await balances(output)).balances) {
      const fiatValue = fiatValueOf(one)
      if (fiatValue !== undefined)
        wallets.set(one.wallet_address, (wallets.get(one.wallet_address) ?? 0n) + fiatValue)
    }
    const rows = tableOf(page, 'AVAX by wallet')
    expect(
      rows
        .map((cells) => cells[5])
        .filter((cell) => cell !== '–')
        .sort(),
    ).toEqual([...wallets.values()].map(money).sort())
    const words = /are worth (<span.*?<\/span>) EUR \(2 of/.exec(page)?.[1]
    expect(cellText(`>${words}`)).toBe(money(sum([...wallets.values()])))
  })

  test('shows the fiat value of fees when they were paid', () => {
    const fees = ledger.filter(({ entry_type }) => entry_type === 'fee')
    const costs = fees.map(({ value, block_timestamp }) =>
      product(-BigInt(value ?? ''), 18n, (block_timestamp ?? '') < lastDay ? EARLIER : LATER),
    )
    const paid = costs.filter((_, at) => hasPrice(fees[at]?.block_timestamp ?? ''))
    const words = /the fees cost (<span.*?<\/span>) EUR when/.exec(page)?.[1]
    expect(cellText(`>${words}`)).toBe(money(sum(paid)))
    const column = tableOf(page, 'Fees in AVAX').map((cells) => cells[2])
    expect(column.filter((cell) => cell !== '–').length).toBeGreaterThan(0)
    const unpriced = fees.length - paid.length
    expect(unpriced).toBeGreaterThan(0)
    expect(page.replaceAll('\u202f', '')).toContain(`${unpriced} of ${fees.length} fees had no price`)
  })

  testSample(
    1,
    ['both', 'prices', 'opening balances'],
    'with %s has totals that are the sums of their rows',
    async (given) => {
      const opening = join(folder, 'opening.csv')
      const inactive = addresses.find((one) => !ledger.some(({ wallet_address }) => wallet_address === one))
      writeFileSync(opening, `${genesisOf(addresses)}${inactive},erc20,${token},,7000000\n`)
      const options = given === 'prices' ? { prices } : given === 'both' ? { prices, opening } : { opening }
      const { file } = await report([output], { ...options, maxRows: 1, out: join(folder, 'totals.html') })
      const tables = tablesWithTotals(readFileSync(file, 'utf8'))
      expect(tables.length).toBeGreaterThan(8)
      for (const { caption, headers, rows, totals } of tables)
        for (const [at, total] of totals.entries()) {
          // Wallets share assets, and the page does not contain all rows of a table with this name of totals.
          if (!/^-?\d/.test(total) || headers[at] === 'assets' || totals[0]?.startsWith('Total of all'))
            continue
          const added = rows.map((cells) => scaled(cells[at] ?? '')).reduce((all, one) => all + one, 0n)
          expect([caption, headers[at], added]).toEqual([caption, headers[at], scaled(total)])
        }
    },
  )

  test('shows a dash instead of a total of unknown values', async () => {
    const none = join(folder, 'none.csv')
    writePrices(none, ['2001-01-01,native,EUR,1'])
    const { file } = await report([output], { prices: none, maxRows: 1, out: join(folder, 'none.html') })
    const without = readFileSync(file, 'utf8')
    const columns = tablesWithTotals(without).flatMap(({ headers, totals }) =>
      headers.flatMap((header, at) => (header.endsWith(', EUR') ? [totals[at]] : [])),
    )
    expect(columns.length).toBeGreaterThan(4)
    expect([...new Set(columns)]).toEqual(['–'])
    expect(without).toMatch(/<li><b>–<\/b><span>EUR held now/)
    expect(without).toContain('None of the assets that are held has a price in the price file')
  })

  test('states how many assets have no price, and where the prices come from', async () => {
    const { balances: all, flagged } = await balances(output)
    const suspicious = new Set(flagged.map(({ asset_address }) => asset_address))
    const held = new Set(
      all
        .filter(({ asset_type }) => asset_type === 'native' || asset_type === 'erc20')
        .map(({ asset_address }) => asset_address)
        .filter((address) => !suspicious.has(address ?? '')),
    )
    expect(page).toContain(
      `${held.size - 2} assets of ${held.size} held have no price and are not part of the totals`,
    )
    expect(page).toContain('Values are in EUR and come from the price file, not from the service')
    expect(page).not.toContain('There are no fiat values')
  })

  test('states that there are no fiat values without a price file', async () => {
    const small = join(folder, 'without-prices')
    await exportDemo(small, { endBlock: 5 })
    const { file } = await report([small])
    const plain = readFileSync(file, 'utf8')
    const words = ['There are no fiat values', 'closing value', ', EUR']
    expect(words.map((text) => plain.includes(text))).toEqual([true, false, false])
  })

  test('needs the chain of each price if the exports are of two chains, and rejects an invalid price file', async () => {
    const other = join(folder, 'other')
    const job = testJob({
      addresses: [`0x${'9'.repeat(40)}`],
      chain: '1',
      startBlock: 17_173_049,
      output: other,
    })
    expect((await run([{ ...job, endBlock: 17_173_051 }])).code).toBeUndefined()
    const small = join(folder, 'small')
    await exportDemo(small, { endBlock: 5 })
    const args = ['report', small, other, '--prices', prices, '--out', join(folder, 'two.html')]
    const { exit, stderr } = await runCommand(args)
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringContaining('are of chains 43114 and 1'),
    })
    const ofChains = join(folder, 'chains.csv')
    const lines = [`43114,${lastDay},native,EUR,20.01`, '1,2023-05-02,native,EUR,1700', '']
    writeFileSync(ofChains, ['chain,date,asset,currency,price', ...lines].join('\n'))
    const { file } = await report([small, other], { prices: ofChains, out: join(folder, 'two.html') })
    expect(readFileSync(file, 'utf8')).toContain('Values are in EUR and come from the price file')
    writePrices(join(folder, 'bad.csv'), ['2024-03-01,native,USD,"1,5"'])
    const bad = await runCommand(['report', output, '--prices', join(folder, 'bad.csv')])
    expect(bad).toMatchObject({ exit: 2, stderr: expect.stringContaining('bad.csv:2: found price 1,5') })
  })
})

/** A price applies until 36 hours after the start of its day (UTC). */
const hasPrice = (time: string) =>
  [firstDay(), lastDay].some((day) => {
    const age = Date.parse(time) - Date.parse(day)
    return age >= 0 && age <= 36 * 3_600_000
  })

type Held = { asset_type: string; asset_address: string | null; value: bigint }
function fiatValueOf({ asset_type, asset_address, value }: Held): bigint | undefined {
  if (asset_type === 'native') return product(value, 18n, LATER)
  return asset_address === token ? product(value, 6n, TOKEN) : undefined
}
