import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { statement } from '../../src/accounting/statement/statement.ts'
import { roundDecimal, shiftDecimal } from '../../src/core/platform/decimal.ts'
import { report } from '../../src/html-report/report.ts'
import { runCommand } from '../helpers/command.ts'
import { ETHEREUM, exportDemo } from '../helpers/demo-export.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { activityIn, headersOf, tableOf, textOf, totalsOf } from './read-page.ts'

const folder = suiteFolder()
const [one, two, ethereum] = ['one', 'two', 'ethereum'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]
const prices = join(folder, 'prices.csv')

beforeAll(async () => {
  const shared = { startBlock: 0, endBlock: 60 }
  await exportDemo(one, { ...shared, addresses: demoWallets.slice(0, 3) })
  await exportDemo(two, { ...shared, addresses: demoWallets.slice(3, 6) })
  const addresses = ['0x6b75d8af000000e20b7a7ddf000ba900b4009a80']
  await exportDemo(ethereum, { ...ETHEREUM, addresses })
  const lines = ['2023-11-14', '2023-11-15', '2023-12-31'].map((day) => `avalanche,${day},native,EUR,20`)
  writeFileSync(
    prices,
    ['chain,date,asset,currency,price', ...lines, '1,2023-05-02,native,EUR,1700', ''].join('\n'),
  )
})

const pageOf = async (outputs: [string, ...string[]], options: { prices?: string; language?: string } = {}) =>
  readFileSync((await report(outputs, { ...options, out: join(folder, 'report.html') })).file, 'utf8')

describe('a report of several exports', () => {
  test('has one total, one list of assets and one list of transactions', async () => {
    const page = await pageOf([one, two, ethereum], { prices })
    expect(page.match(/<h1>/g)).toHaveLength(1)
    expect(page.match(/<p class="seal/g)).toHaveLength(1)
    const { entries, chains } = activityIn(page)
    expect(chains.map(({ name }) => name).sort()).toEqual(['Avalanche C-Chain', 'Ethereum'])
    const times = entries.map(([time]) => time)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const coins = tableOf(page, 'Holdings').filter(([name]) => /^(AVAX|ETH) /.test(name ?? ''))
    expect(coins.map(([name]) => name)).toContain('AVAX Avalanche C-Chain')
    expect(textOf(page)).toContain('AVAX Avalanche C-Chain')
  })

  test('counts transfers between wallets of two exports of a chain as own, as the statement does', async () => {
    const page = await pageOf([one, two], { prices })
    const { lines } = await statement([one, two], { year: '2023', prices })
    const flagged = lines.filter(({ asset_type }) => asset_type === 'native')
    const closing = flagged.reduce((sum, { values }) => sum + (values.closing ?? 0n), 0n)
    const [headers, avax] = [headersOf(page, 'Year 2023'), tableOf(page, 'Year 2023')[0] ?? []]
    expect(roundDecimal(totalsOf(page, 'Year 2023').at(-1) ?? '', 2)).toBe(
      roundDecimal(shiftDecimal(String(closing), 8) ?? '', 2),
    )
    const alone = await pageOf([one], { prices })
    const ownOf = (cells: string[], names: string[]) => Number(cells[names.indexOf('Own transfers')] ?? 0)
    expect(ownOf(avax, headers)).toBeGreaterThan(
      ownOf(tableOf(alone, 'Year 2023')[0] ?? [], headersOf(alone, 'Year 2023')),
    )
  })

  test('has the holdings of an export in years in which only the other one has rows', async () => {
    const page = await pageOf([one, ethereum])
    const early = tableOf(page, 'Year 2023').find(([name]) => name?.startsWith('ETH '))
    expect(early).toBeDefined()
  })

  test('needs the chain of each price if the exports are of two chains', async () => {
    const plain = join(folder, 'plain.csv')
    writeFileSync(plain, 'date,asset,currency,price\n2023-11-14,native,EUR,20\n')
    const { exit, stderr } = await runCommand([
      'report',
      one,
      ethereum,
      '--prices',
      plain,
      '--out',
      join(folder, 'x.html'),
    ])
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringMatching(/are of chains (43114 and 1|1 and 43114)/),
    })
    writeFileSync(plain, 'date,asset,currency,price\n2024-03-01,native,USD,"1,5"\n')
    const bad = await runCommand(['report', one, '--prices', plain])
    expect(bad).toMatchObject({ exit: 2, stderr: expect.stringContaining('plain.csv:2: found price 1,5') })
  })
})

describe('a report in German', () => {
  test('has German texts, numbers and dates, and exact amounts', async () => {
    const page = await pageOf([one], { prices, language: 'de' })
    const text = textOf(page)
    expect(page).toContain('<html lang="de">')
    for (const words of ['Vermögensbericht', 'Was geschah', 'Vollständig', '14. Nov. 2023 bis 15. Nov. 2023'])
      expect(text).toContain(words)
    expect(text).not.toMatch(/What happened|Holdings|Complete/)
    const english = tableOf(await pageOf([one], { prices }), 'Holdings')
    expect(tableOf(page, 'Bestände').map((cells) => cells.slice(1, 4))).toEqual(
      english.map((cells) => cells.slice(1, 4)),
    )
  })

  test('is chosen by --language, which names the languages', async () => {
    const args = ['report', one, '--out', join(folder, 'de.html'), '--language']
    expect((await runCommand([...args, 'de'])).exit).toBe(0)
    expect(readFileSync(join(folder, 'de.html'), 'utf8')).toContain('Vermögensbericht')
    expect(await runCommand([...args, 'fr'])).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/en.*de/),
    })
  })
})
