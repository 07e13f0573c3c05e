import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { report } from '../../src/html-report/report.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { testJob } from '../helpers/jobs.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { cellText, tableOf } from './read-page.ts'

const folder = suiteFolder()
const output = join(folder, 'demo')
const prices = join(folder, 'prices.csv')
let page = ''
let ledger: TextRow[] = []
let token = ''
let lastDay = ''
/** Cents: those of the coin are another price from the last day on. */
const [EARLIER, LATER, TOKEN] = [1_834n, 2_001n, 7n]

beforeAll(async () => {
  await exportDemo(output)
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

/** Cents times an amount of so many decimals, in 10^-8, a half to the even digit: by hand. */
function product(value: bigint, decimals: bigint, cents: bigint): bigint {
  const [exact, unit] = [(value < 0n ? -value : value) * cents * 10n ** 6n, 10n ** decimals]
  const [whole, twice] = [exact / unit, (exact % unit) * 2n]
  const rounded = twice > unit || (twice === unit && whole % 2n === 1n) ? whole + 1n : whole
  return value < 0n ? -rounded : rounded
}

function money(worth: bigint): string {
  const digits = String(worth < 0n ? -worth : worth).padStart(9, '0')
  const text = `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, '')
  return worth < 0n ? `-${text}` : text
}

const sum = (worths: readonly bigint[]) => worths.reduce((all, one) => all + one, 0n)

describe('a report with prices of the user', () => {
  test('has what each balance is worth, exact products by hand', async () => {
    const coins = (await balances(output, { all: true })).balances.filter(
      ({ asset_type }) => asset_type === 'native',
    )
    const shown = tableOf(page, 'Balances at the end: AVAX').map((cells) => cells[2])
    const expected = coins.map(({ value }) => (value === 0n ? '–' : money(product(value, 18n, LATER))))
    expect(shown.sort()).toEqual(expected.sort())
  })

  test('adds worth up by wallet and in all', async () => {
    const wallets = new Map<string, bigint>()
    for (const one of (await balances(output)).balances) {
      const worth = oneWorth(one)
      if (worth !== undefined)
        wallets.set(one.wallet_address, (wallets.get(one.wallet_address) ?? 0n) + worth)
    }
    const rows = tableOf(page, 'What each wallet did')
    expect(
      rows
        .map((cells) => cells[8])
        .filter((cell) => cell !== '–')
        .sort(),
    ).toEqual([...wallets.values()].map(money).sort())
    const words = /they had (<span.*?<\/span>) EUR in the end \(2 of/.exec(page)?.[1]
    expect(cellText(`>${words}`)).toBe(money(sum([...wallets.values()])))
  })

  test('says what fees cost when they were paid', () => {
    const fees = ledger.filter(({ entry_type }) => entry_type === 'fee')
    const costs = fees.map(({ value, block_timestamp }) =>
      product(-BigInt(value ?? ''), 18n, (block_timestamp ?? '') < lastDay ? EARLIER : LATER),
    )
    const paid = costs.filter((_, at) => hasPrice(fees[at]?.block_timestamp ?? ''))
    const words = /those fees cost (<span.*?<\/span>) EUR when/.exec(page)?.[1]
    expect(cellText(`>${words}`)).toBe(money(sum(paid)))
    const column = tableOf(page, 'Fees in AVAX').map((cells) => cells[2])
    expect(column.filter((cell) => cell !== '–').length).toBeGreaterThan(0)
    const unpriced = fees.length - paid.length
    expect(unpriced).toBeGreaterThan(0)
    expect(page.replaceAll('\u2009', '')).toContain(`${unpriced} of ${fees.length} fees had no price`)
  })

  test('says how many assets have no price, and whose prices these are', async () => {
    const held = new Set(
      (await balances(output)).balances
        .filter(({ asset_type }) => asset_type === 'native' || asset_type === 'erc20')
        .map(({ asset_address }) => asset_address),
    )
    expect(page).toContain(
      `${held.size - 2} assets of ${held.size} that are held have none and count for nothing`,
    )
    expect(page).toContain('what the file of prices says in EUR, never the service')
    expect(page).not.toContain('Nothing here has a price')
  })

  test('is another page without prices, which says that nothing has one', async () => {
    const { file } = await report([output], { out: join(folder, 'plain.html') })
    const plain = readFileSync(file, 'utf8')
    const words = ['Nothing here has a price', 'worth at the end', ', EUR']
    expect(words.map((text) => plain.includes(text))).toEqual([true, false, false])
  })

  test('refuses prices for exports of two chains, and what no price file is', async () => {
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
    const words = ['report', small, other, '--prices', prices, '--out', join(folder, 'two.html')]
    const { exit, stderr } = await runCommand(words)
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringContaining('are of chains 43114 and 1'),
    })
    writePrices(join(folder, 'bad.csv'), ['2024-03-01,native,USD,"1,5"'])
    const bad = await runCommand(['report', output, '--prices', join(folder, 'bad.csv')])
    expect(bad).toMatchObject({ exit: 2, stderr: expect.stringContaining('bad.csv:2: found price 1,5') })
  })
})

/** At most 36 hours after the first second of a day that has one. */
const hasPrice = (time: string) =>
  [firstDay(), lastDay].some((day) => {
    const age = Date.parse(time) - Date.parse(day)
    return age >= 0 && age <= 36 * 3_600_000
  })

type Held = { asset_type: string; asset_address: string | null; value: bigint }
function oneWorth({ asset_type, asset_address, value }: Held): bigint | undefined {
  if (asset_type === 'native') return product(value, 18n, LATER)
  return asset_address === token ? product(value, 6n, TOKEN) : undefined
}
