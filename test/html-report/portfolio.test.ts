import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { statement } from '../../src/accounting/statement/statement.ts'
import { isNft } from '../../src/core/model/asset.ts'
import { roundDecimal, shiftDecimal } from '../../src/core/platform/decimal.ts'
import { report } from '../../src/html-report/report.ts'
import { type Balance, balances } from '../../src/ledger/balances/balances.ts'
import { exactFiatValue } from '../../src/ledger/prices/prices.ts'
import { exportDemo, genesisCsv } from '../helpers/demo-export.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { activityIn, columnOf, headersOf, sectionOf, tableOf, textOf, totalsOf } from './read-page.ts'

const folder = suiteFolder()
const output = join(folder, 'demo')
const [prices, opening] = [join(folder, 'prices.csv'), join(folder, 'opening.csv')]
const pages = { priced: '', plain: '' }
let ledger: TextRow[] = []
let held: Balance[] = []
/** Contracts that are in no total: those of suspicious tokens. */
let excluded: ReadonlySet<string | null>
/** The contract of a token that is priced. */
let token = ''
let lastDay = ''
const [COIN_PRICE, TOKEN_PRICE] = ['21.75', '0.07']

beforeAll(async () => {
  await exportDemo(output, { endBlock: 60 })
  writeFileSync(opening, genesisCsv())
  ledger = await readCsvTable(output, 'ledger')
  const { balances: all, flagged } = await balances(output, { opening })
  held = all
  excluded = new Set(flagged.map(({ asset_address }) => asset_address))
  lastDay = ledger.at(-1)?.block_timestamp?.slice(0, 10) ?? ''
  const symbol = (row: TextRow) => row.asset_symbol === 'MKRL'
  token = ledger.find(symbol)?.asset_address ?? ''
  const days = [
    ...new Set(ledger.map(({ block_timestamp }) => block_timestamp?.slice(0, 10) ?? '')),
    '2023-12-31',
  ]
  const lines = days.flatMap((day) => [
    `${day},native,EUR,${COIN_PRICE}`,
    `${day},${token},EUR,${TOKEN_PRICE}`,
  ])
  writeFileSync(prices, ['date,asset,currency,price', ...lines, ''].join('\n'))
  const write = async (out: string, options: { prices?: string }) =>
    readFileSync((await report([output], { opening, out: join(folder, out), ...options })).file, 'utf8')
  pages.priced = await write('priced.html', { prices })
  pages.plain = await write('plain.html', {})
})

const cents = (exact = '') => roundDecimal(exact, 2)
const fiat = (value: bigint) => shiftDecimal(String(value), 8) ?? ''
const sum = (values: readonly bigint[]) => values.reduce((all, value) => all + value, 0n)
const isPriced = ({ asset_address: address }: Pick<Balance, 'asset_address'>) =>
  address === null || address === token
const fiatValueOf = ({ asset_address: address, asset_decimals: decimals, value }: Balance) =>
  exactFiatValue(value, decimals ?? 0, address === null ? COIN_PRICE : TOKEN_PRICE)

/** The first cell of an asset's lines in the CSV of tables. */
const nameOf = ({
  asset_symbol: symbol,
  asset_address: address,
}: Pick<Balance, 'asset_symbol' | 'asset_address'>) =>
  [address === null ? 'AVAX' : (symbol ?? ''), address ?? 'Avalanche C-Chain'].filter(Boolean).join(' ')

describe('the worth and the holdings', () => {
  test('are the values of the statement up to that day, to the cent', async () => {
    const { lines } = await statement([output], { from: '2023-01-01', until: lastDay, prices, opening })
    const total = sum(
      lines.filter((line) => !excluded.has(line.asset_address)).map(({ values }) => values.closing ?? 0n),
    )
    const shown = /<p class="total"><span class="amount" title="([^"]*)"/.exec(pages.priced)?.[1]
    // The statement rounds the value of each wallet, the total that of each asset.
    expect(cents(shown)).toBe(cents(fiat(total)))
    expect(totalsOf(pages.priced, 'Holdings')[3]).toBe(shown)
    expect(total).toBe(sum(held.filter(isPriced).map(fiatValueOf)))
  })

  test('state how many assets have a price, and name the others', () => {
    const counted = held.filter((one) => !isNft({ type: one.asset_type }) && !excluded.has(one.asset_address))
    const sums = new Map<string | null, bigint>()
    for (const { asset_address: key, value } of counted) sums.set(key, (sums.get(key) ?? 0n) + value)
    const assets = [...sums].filter(([, value]) => value !== 0n)
    const worth = textOf(sectionOf(pages.priced, 'worth'))
    expect(worth).toContain(`2 of ${assets.length} assets priced`)
    expect(worth).toContain('Without a price, and in no total:')
  })

  test('are the balances of all wallets', () => {
    const sums = new Map<string, bigint>()
    const units = new Map<string, number | null>()
    for (const one of held) {
      if (isNft({ type: one.asset_type }) || excluded.has(one.asset_address)) continue
      sums.set(nameOf(one), (sums.get(nameOf(one)) ?? 0n) + one.value)
      units.set(nameOf(one), one.asset_decimals)
    }
    const amounts = [...sums]
      .filter(([, value]) => value !== 0n)
      .map(([name, value]): [string, string] => [
        name,
        shiftDecimal(String(value), units.get(name) ?? null) ?? `${value} units`,
      ])
    expect(columnOf(pages.plain, 'Holdings', 'Balance')).toEqual(new Map(amounts.sort()))
    const wallets = tableOf(pages.plain, 'By wallet').map(([, name, amount]) => [name, amount])
    const expected = held
      .filter((one) => sums.get(nameOf(one)) && one.value !== 0n)
      .map((one) => [nameOf(one), one.amount ?? `${one.value} units`])
    expect(wallets.length).toBe(Math.min(500, expected.length))
    expect(expected).toEqual(expect.arrayContaining(wallets))
  })

  test('without prices show the main balances, and no fiat values', () => {
    const avax = sum(held.filter(({ asset_type }) => asset_type === 'native').map(({ value }) => value))
    const worth = sectionOf(pages.plain, 'worth')
    expect(worth).toContain(`title="${shiftDecimal(String(avax), 18)}"`)
    expect(textOf(worth)).toContain('Main balances')
    expect(pages.plain).not.toContain('EUR')
    expect(pages.plain).toContain('There are no fiat values')
  })

  test('leave out what is suspicious, and say why', () => {
    const reasons = tableOf(pages.plain, 'In no total')
    expect(reasons.length).toBeGreaterThan(0)
    for (const [name = '', , why = ''] of reasons) {
      expect(excluded.has(name.split(' ').at(-1) ?? '')).toBe(true)
      expect(why).not.toBe('')
    }
  })

  test('have a value for each day of the chart, which ends with the total', () => {
    const days = tableOf(pages.priced, 'Value of all wallets in EUR, by day')
    expect(days[0]).toEqual([lastDay, totalsOf(pages.priced, 'Holdings')[3]])
  })
})

describe('the years', () => {
  test('have the amounts and values of the statement, own transfers apart', async () => {
    const { lines } = await statement([output], { year: '2023', prices, opening })
    const headers = headersOf(pages.priced, 'Year 2023')
    const rows = tableOf(pages.priced, 'Year 2023')
    expect(rows.length).toBeGreaterThan(5)
    for (const cells of rows) {
      const ofAsset = lines.filter((line) => nameOf(line) === cells[0])
      const cell = (header: string) => digitsOf(cells[headers.indexOf(header)] ?? '0')
      const total = (name: keyof (typeof lines)[number]['amounts']) =>
        sum(ofAsset.map(({ amounts }) => amounts[name]))
      const own = digitsOf(String(total('own_out')))
      expect([cells[0], cell('Opening'), cell('Closing'), cell('Fees')]).toEqual([
        cells[0],
        ...(['opening', 'closing', 'fees'] as const).map((name) => digitsOf(String(total(name)))),
      ])
      expect([cells[0], cell('Own transfers'), cell('In'), cell('Out')]).toEqual([
        cells[0],
        own,
        digitsOf(String(total('received') + total('income'))),
        digitsOf(String(total('sent'))),
      ])
    }
    const closing = lines
      .filter((line) => !excluded.has(line.asset_address))
      .map(({ values }) => values.closing ?? 0n)
    expect(totalsOf(pages.priced, 'Year 2023').at(-1)).toBe(fiat(sum(closing)))
  })

  test('state what the change of prices adds to the value of an asset', async () => {
    const { lines } = await statement([output], { year: '2023', prices, opening })
    const column = headersOf(pages.priced, 'Year 2023').indexOf('Price change')
    const changes = tableOf(pages.priced, 'Year 2023').flatMap((cells) => {
      const all = lines.filter((line) => nameOf(line) === cells[0]).map(({ values }) => values)
      const total = (names: readonly (keyof (typeof lines)[number]['values'])[]) =>
        sum(all.flatMap((values) => names.map((name) => values[name] ?? 0n)))
      const movements =
        total(['received', 'income', 'swapped_in', 'wrapped_in']) -
        total(['sent', 'swapped_out', 'wrapped_out', 'fees'])
      const change = cells[column]
      return change ? [[cells[0], change, fiat(total(['closing']) - total(['opening']) - movements)]] : []
    })
    expect(changes.length).toBeGreaterThan(0)
    for (const [name, change, expected] of changes) expect([name, change]).toEqual([name, expected])
  })

  test('have a page to sign with the same holdings, and what the seal states', () => {
    const sheet = pages.priced.split('<article class="page">')[1]?.split('</article>')[0] ?? ''
    expect(textOf(sheet)).toContain('Statement of assets 2023')
    expect(textOf(sheet)).toContain('Complete: every page was read, no record was rejected')
    const total = totalsOf(pages.priced, 'Holdings at the beginning and at the end of 2023')
    expect(total.at(-1)).toBe(totalsOf(pages.priced, 'Year 2023').at(-1))
  })

  /** An amount without its decimal point and zeros at the end, because the decimals of a cell are not known. */
  const digitsOf = (text: string) =>
    text
      .replace(/ units$/, '')
      .replace('.', '')
      .replace(/^(-?)0+(?=.)/, '$1')
      .replace(/(?<=[1-9])0+$/, '')
})

describe('what happened', () => {
  test('has every row of the ledger, with exact amounts', () => {
    const { entries, parties, assets } = activityIn(pages.plain)
    const rows = entries.flatMap(([time, , transaction, , packed]) =>
      packed
        .filter(([, type]) => type !== 'opening')
        .map(([wallet, type, amount, asset, party]) => [
          new Date(time * 1000).toISOString(),
          transaction,
          parties[wallet]?.[0],
          type,
          amount,
          assets[asset]?.[1],
          parties[party]?.[0] ?? '',
        ]),
    )
    const expected = ledger.map((row) => [
      row.block_timestamp,
      row.transaction_hash,
      row.wallet_address,
      row.entry_type,
      row.amount || (row.asset_type === 'erc1155' ? row.value : `${row.value} units`),
      row.asset_address ?? '',
      row.counterparty_address ?? '',
    ])
    expect(rows).toEqual(expected)
  })

  test('or the newest rows, which the page says', async () => {
    const out = join(folder, 'few.html')
    const { rows } = await report([output], { out, maxRows: 100 })
    const page = readFileSync(out, 'utf8')
    const listed = activityIn(page).entries.flatMap(([, , , , packed]) => packed)
    expect([rows, listed.length]).toEqual([listed.length, listed.length])
    expect(rows).toBeLessThanOrEqual(100)
    expect(rows).toBeGreaterThan(90)
    expect(textOf(page)).toContain(`The newest ${rows} of ${ledger.length.toLocaleString('en')} rows`)
  })

  test('has the values of amounts when they moved', () => {
    const coin = activityIn(pages.priced).entries.flatMap(([, , , events]) => events)
    const one = coin.find(
      ([kind, , , , out, , , value]) => kind === 'sent' && out.length === 2 && value !== '',
    )
    expect(Number(one?.[7])).toBeGreaterThan(0)
  })
})

describe('the sections below', () => {
  test('sum the fees of the ledger by month and by method, and their values when paid', () => {
    const fees = ledger
      .filter(({ entry_type }) => entry_type === 'fee')
      .map(({ value }) => -BigInt(value ?? '0'))
    const paid = shiftDecimal(String(sum(fees)), 18)
    const value = fiat(sum(fees.map((fee) => exactFiatValue(fee, 18, COIN_PRICE))))
    for (const caption of ['Fees by month', 'Fees by method'])
      expect(totalsOf(pages.priced, caption).slice(1)).toEqual([String(fees.length), paid, value])
    expect(tableOf(pages.plain, 'Fees by method').length).toBe(
      new Set(ledger.filter(({ entry_type }) => entry_type === 'fee').map(({ method_name }) => method_name))
        .size,
    )
  })

  test('count the transfers with each counterparty', () => {
    const others = ledger.filter(
      (row) =>
        row.entry_type === 'transfer' &&
        row.counterparty_is_own === 'false' &&
        row.counterparty_address !== null,
    )
    const rows = tableOf(pages.plain, 'Counterparties')
    for (const [, address, transfers, received, sent] of rows) {
      const own = others.filter(({ counterparty_address }) => counterparty_address === address)
      const into = own.filter(({ direction }) => direction === 'in').length
      expect([transfers, received, sent]).toEqual([own.length, into, own.length - into].map(String))
    }
    expect(rows.length).toBeGreaterThan(0)
  })

  test('list the NFTs that are held', () => {
    const nfts = held.filter(({ asset_type: type, value }) => isNft({ type }) && value > 0n)
    const ids = new Map<string, Set<string>>()
    for (const one of nfts) ids.set(nameOf(one), (ids.get(nameOf(one)) ?? new Set()).add(one.token_id ?? ''))
    const shown = columnOf(pages.plain, 'NFTs', 'Held')
    for (const [name, tokens] of ids) expect([name, shown.get(name)]).toEqual([name, String(tokens.size)])
    expect(ids.size).toBeGreaterThan(1)
  })
})
