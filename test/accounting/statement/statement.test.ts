import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Statement, statement } from '../../../src/accounting/statement/statement.ts'
import {
  entryTypeTable,
  statementSheets,
  statementTable,
} from '../../../src/accounting/statement/statement-rows.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { runCommand } from '../../helpers/command.ts'
import { ETHEREUM, exportDemo } from '../../helpers/demo-export.ts'
import { readCsvTable, type TextRow } from '../../helpers/read-output.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { GOLDEN_CHAIN, GOLDEN_PRICES, WALLETS } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'

/** Addresses with many transactions in the two mainnet blocks. */
const MAINNET = ['0x6b75d8af000000e20b7a7ddf000ba900b4009a80', '0xa9d1e08c7793af67e9d92fe308d5697fb81d3e43']

const folder = suiteFolder()
const demo = join(folder, 'demo')
const mainnet = join(folder, 'mainnet')
const madeUp = join(folder, 'made-up')

beforeAll(async () => {
  await exportDemo(demo, { endBlock: 60 })
  await exportMadeUp(madeUp, GOLDEN_CHAIN)
  await exportDemo(mainnet, { ...ETHEREUM, addresses: MAINNET })
})

test('names wallets without a label by the address book, and selects them by that name', async () => {
  const [first = ''] = (await balances(demo)).wallets.map(({ address }) => address)
  const names = join(folder, 'names.csv')
  writeFileSync(
    names,
    `address,name,chain\n${first.toUpperCase().replace('X', 'x')},Till,\n${first},Other,1\n`,
  )
  const selected = { names, wallets: ['Till'] }
  const { lines } = await statement([demo], { year: '2023', ...selected })
  expect(new Set(lines.map((line) => [line.wallet_address, line.wallet_label].join()))).toEqual(
    new Set([`${first},Till`]),
  )
  expect((await balances(demo, selected)).wallets).toEqual([{ address: first, label: 'Till' }])
})

type Line = Statement['lines'][number]
const keyOf = (line: Pick<Line, 'wallet_address' | 'asset_type' | 'asset_address' | 'token_id'>) =>
  [line.wallet_address, line.asset_type, line.asset_address ?? '', line.token_id ?? ''].join('|')

/** Values other than zero by wallet and asset. */
const valuesOf = <T extends Parameters<typeof keyOf>[0]>(all: readonly T[], value: (one: T) => bigint) =>
  new Map(all.flatMap((one) => (value(one) === 0n ? [] : [[keyOf(one), value(one)]])))

async function valuesAt(output: string, at: string): Promise<Map<string, bigint>> {
  return valuesOf((await balances(output, { at })).balances, ({ value }) => value)
}

const before = (instant: string) => new Date(Date.parse(instant) - 1).toISOString()

describe.for([
  { chain: 'demo', output: demo, periods: 3 },
  { chain: 'mainnet', output: mainnet, periods: 2 },
  { chain: 'made-up', output: madeUp, periods: 8 },
])('a statement of the $chain chain', ({ output, periods }) => {
  test('ties to the balances at both ends of random periods, for every wallet and asset', {
    tags: ['long'],
  }, async () => {
    const ledger = await readCsvTable(output, 'ledger')
    const random = createSeededRandom(periods)
    const instants = ledger.flatMap(({ block_timestamp: time }) => [`${time}`, before(`${time}`)])
    for (let at = 0; at < periods; at += 1) {
      const [from = '', until = ''] = [random.pick(instants), random.pick(instants)].sort()
      const end = from === until ? new Date(Date.parse(until) + 1).toISOString() : until
      const { lines } = await statement([output], { from, until: end })
      expect([from, valuesOf(lines, ({ amounts }) => amounts.opening)]).toEqual([
        from,
        await valuesAt(output, before(from)),
      ])
      expect([end, valuesOf(lines, ({ amounts }) => amounts.closing)]).toEqual([
        end,
        await valuesAt(output, before(end)),
      ])
      expect(lines.filter((line) => line.amounts.closing !== endOf(line))).toEqual([])
      expect(movedIn(lines)).toEqual(rowsMoved(ledger, { from, end }))
    }
  })
})

/** The closing balance that the columns of a line lead to. */
function endOf({ amounts }: Line): bigint {
  const { opening, received, sent, own_in, own_out, income, fees } = amounts
  const { swapped_in, swapped_out, wrapped_in, wrapped_out } = amounts
  const exchanged = swapped_in - swapped_out + wrapped_in - wrapped_out
  return opening + received - sent + own_in - own_out + income + exchanged - fees
}

/** Fees, and the number of movements, by wallet and asset. */
const movedIn = (lines: readonly Line[]) =>
  new Map(
    lines.flatMap(({ entries, amounts, ...line }) => {
      const count = entries.reduce((sum, { movements }) => sum + movements, 0)
      return count === 0 ? [] : [[keyOf(line), { fees: amounts.fees, count }]]
    }),
  )

function rowsMoved(ledger: readonly TextRow[], { from, end }: { from: string; end: string }) {
  const moved = new Map<string, { fees: bigint; count: number }>()
  for (const row of ledger) {
    const { block_timestamp: time, wallet_address, asset_type, asset_address, token_id } = row
    if (`${time}` < from || `${time}` >= end) continue
    const key = [wallet_address, asset_type, asset_address ?? '', token_id ?? ''].join('|')
    const { fees, count } = moved.get(key) ?? { fees: 0n, count: 0 }
    const paid = row.entry_type === 'fee' ? -BigInt(row.value ?? '') : 0n
    moved.set(key, { fees: fees + paid, count: count + 1 })
  }
  return moved
}

/** The lines of a table by asset symbol and token id, with the amounts that are not zero. */
const amountsOf = ({ columns, rows }: ReturnType<typeof statementTable>, wallet: string) =>
  Object.fromEntries(
    rows
      .filter((row) => row[0] === wallet)
      .map((row) => {
        const cells = row.map((cell, at) => [columns[at]?.name, cell] as const)
        const { asset_symbol, token_id, ...rest } = Object.fromEntries(cells)
        const amounts = Object.entries(rest).slice(columns.findIndex(({ name }) => name === 'opening') - 2)
        return [
          `${asset_symbol}${token_id === null ? '' : ` ${token_id}`}`,
          Object.fromEntries(amounts.filter(([, amount]) => amount !== '0')),
        ]
      }),
  )

describe('the statement of 2024 for the made-up chain', () => {
  const [ann = '', ben = ''] = WALLETS.map(({ address }) => address)

  test('has the hand-computed amounts', async () => {
    const table = statementTable(await statement([madeUp], { year: '2024' }))
    const ofAnn = amountsOf(table, ann)
    expect(ofAnn.AVAX).toEqual({
      opening: '100',
      received: '0.000000000000000001',
      sent: '2.333333333333333333',
      // One to herself, and 1.25 to Ben.
      own_in: '1',
      own_out: '2.25',
      swapped_in: '1',
      swapped_out: '1.8',
      fees: '0.01875000000075',
      closing: '95.597916666665916668',
    })
    expect(ofAnn.USDC).toEqual({
      received: '5000',
      sent: '107',
      own_in: '0.000001',
      swapped_in: '61.234568',
      swapped_out: '500',
      closing: '4454.234569',
    })
    expect(ofAnn.vUSDC).toEqual({ received: '99', sent: '9', closing: '90' })
    expect(ofAnn['APE 7']).toEqual({ swapped_in: '1', closing: '1' })
    expect(ofAnn.LONG).toEqual({ received: `0.${'0'.repeat(254)}1`, closing: `0.${'0'.repeat(254)}1` })
    // The decimals of this token are unknown, so it has no amounts in whole units.
    expect(new Set(Object.values(ofAnn.null ?? {}))).toEqual(new Set([null]))
    const ofBen = amountsOf(table, ben)
    expect(ofBen.AVAX).toEqual({
      opening: '3.000000000000000001',
      own_in: '1.25',
      fees: '0.00125000000005',
      closing: '4.248749999999950001',
    })
    expect(ofBen[`null ${2n ** 256n - 1n}`]).toEqual({ received: '5', swapped_out: '2', closing: '3' })
    // Ben sends a token that he never received.
    expect(ofBen.USDC).toEqual({ own_out: '0.000001', closing: '-0.000001' })
  })

  test('includes the last second of a year, and excludes it from the next', async () => {
    const lines = async (options: Parameters<typeof statement>[1]) =>
      amountsOf(statementTable(await statement([madeUp], options)), ben)
    expect(await lines({ year: '2023' })).toEqual({
      AVAX: { received: '3.000000000000000001', closing: '3.000000000000000001' },
    })
    expect(await lines({ from: '2023-12-31', until: '2023-12-31' })).toEqual(await lines({ year: '2023' }))
    expect(await lines({ year: '2022' })).toEqual({})
  })

  test('states balances that did not move, and the future', async () => {
    const { lines, period } = await statement([madeUp], { year: '2199' })
    expect(period).toEqual({ from: '2199-01-01T00:00:00.000Z', until: '2199-12-31T23:59:59.999Z' })
    expect(lines.length).toBeGreaterThan(8)
    for (const { amounts, entries } of lines) {
      expect(amounts.opening).toBe(amounts.closing)
      expect(entries).toEqual([])
    }
  })

  test('has the totals of each entry type', async () => {
    const { columns, rows } = entryTypeTable(await statement([madeUp], { year: '2024' }))
    expect(columns.slice(6).map(({ name }) => name)).toEqual([
      'entry_type',
      'movements',
      'amount_in',
      'amount_out',
    ])
    const native = rows.filter((row) => row[0] === ann && row[2] === 'native').map((row) => row.slice(6))
    expect(native).toEqual([
      ['fee', '15', '0', '0.01875000000075'],
      ['self', '2', '1', '1'],
      ['transfer', '9', '1.500000000000000001', '5.883333333333333333'],
    ])
  })

  test('covers the chosen wallets only', async () => {
    const { lines, exports } = await statement([madeUp], { year: '2024', wallets: ['Ann, main'] })
    expect(new Set(lines.map(({ wallet_address }) => wallet_address))).toEqual(new Set([ann]))
    expect(exports[0]?.wallets).toEqual([WALLETS[0]])
  })
})

describe('with prices', () => {
  const [ann = ''] = WALLETS.map(({ address }) => address)
  const prices = join(folder, 'prices.csv')
  const period = { from: '2024-01-01', until: '2024-02-29' }
  beforeAll(() => writeFileSync(prices, GOLDEN_PRICES))

  test('each amount has its value, at the price of its time', async () => {
    const stated = await statement([madeUp], { ...period, prices })
    const { columns } = statementTable(stated)
    expect(columns.slice(18).map(({ name }) => name)).toEqual([
      'currency',
      'opening_value',
      'received_value',
      'sent_value',
      'own_in_value',
      'own_out_value',
      'income_value',
      'swapped_in_value',
      'swapped_out_value',
      'wrapped_in_value',
      'wrapped_out_value',
      'fees_value',
      'closing_value',
    ])
    const values = (symbol: string) => {
      const entries = Object.entries(amountsOf(statementTable(stated), ann)[symbol] ?? {})
      return Object.fromEntries(entries.filter(([name]) => name.endsWith('_value')))
    }
    expect(values('AVAX')).toEqual({
      opening_value: '3855',
      swapped_in_value: '41.12345679',
      swapped_out_value: '61.68518518',
      fees_value: '0.15421296',
      closing_value: '4091.62973754',
    })
    expect(values('USDC')).toEqual({
      received_value: '4997.5',
      swapped_in_value: '61.24069046',
      swapped_out_value: '500.05',
      closing_value: '4561.69069046',
    })
    expect(values('WETH.e')).toEqual({
      swapped_in_value: null,
      swapped_out_value: null,
      closing_value: null,
    })
  })

  test('the table for people shows the values, rounded, below the amounts', async () => {
    const dates = ['--from', period.from, '--until', period.until]
    const { stdout } = await runCommand(['statement', madeUp, ...dates, '--prices', prices, '--wallet', ann])
    const cells = stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
    const below = (symbol: string) => cells[cells.findIndex(([, name]) => name === symbol) + 1]
    expect(below('AVAX')).toEqual(['in USD', '3855.00', '0', '0', '-20.56', '0', '0.15', '4091.63'])
    expect(below('WETH.e')).toEqual(['in USD', '0', '0', '0', '–', '0', '0', '–'])
    expect((await runCommand(['statement', madeUp, ...dates])).stdout).not.toContain('in USD')
  })

  test('takes the prices of the chain by any of its names, however the job names it', async () => {
    const byBlockchainId = join(folder, 'by-blockchain-id')
    await exportMadeUp(byBlockchainId, GOLDEN_CHAIN, '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5')
    const [head = '', ...lines] = GOLDEN_PRICES.trim().split('\n')
    const names = ['43114', 'avalanche', '0xa86a', '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5']
    const file = join(folder, 'prices-by-name.csv')
    const named = lines.map((line, at) => `${line},${names[at % names.length]}`)
    writeFileSync(file, [`${head},chain`, ...named, ''].join('\n'))
    const valuesWith = async (output: string, list: string) =>
      (await statement([output], { ...period, prices: list })).lines.map(({ values }) => values)
    expect(await valuesWith(byBlockchainId, file)).toEqual(await valuesWith(madeUp, prices))
  })

  test('lists the prices that are missing, also those before and at the end of the period', async () => {
    const daysOf = async (options: Parameters<typeof statement>[1]) =>
      (await statement([madeUp], { ...options, collectsNeeded: true })).pricesNeeded.map(
        ({ date, symbol }) => `${date} ${symbol}`,
      )
    expect(await daysOf({ ...period, prices })).toEqual(['2024-02-29 WETH.e'])
    const all = await daysOf({ year: '2024' })
    expect(all).toEqual(expect.arrayContaining(['2023-12-31 AVAX', '2024-12-31 AVAX', '2024-12-31 USDC']))
    expect(all).not.toEqual(expect.arrayContaining([expect.stringMatching(/^2023-12-31 USDC/)]))
    expect(await daysOf({ year: '2025' })).toContain('2025-12-31 USDC')
    expect((await statement([madeUp], { year: '2024' })).pricesNeeded).toEqual([])
  })

  test('values each export at the prices of its chain', async () => {
    const [outputs, year] = [[demo, mainnet] as const, '2023']
    await expect(statement(outputs, { year, prices })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(':2: found a price without a chain'),
    })
    const { pricesNeeded } = await statement(outputs, { year, collectsNeeded: true })
    const priceOf = (chain: string) => (chain === '1' ? 3n : 2n)
    const lines = pricesNeeded.map(
      ({ date, chain, asset }) => `${date},${chain},${asset},EUR,${priceOf(chain)}`,
    )
    const file = join(folder, 'prices-of-chains.csv')
    writeFileSync(file, ['date,chain,asset,currency,price', ...lines, ''].join('\n'))
    const stated = await statement(outputs, { year, prices: file })
    expect([stated.currency, stated.pricesNeeded]).toEqual(['EUR', []])
    const coins = stated.lines.filter(({ asset_type }) => asset_type === 'native')
    expect(new Set(coins.map(({ chain_id }) => chain_id))).toEqual(new Set(['43114', '1']))
    for (const { chain_id, amounts, values } of coins) {
      const difference = amounts.closing * priceOf(chain_id) - (values.closing ?? 0n) * 10n ** 10n
      expect(difference <= 5n * 10n ** 9n && difference >= -5n * 10n ** 9n).toBe(true)
    }
  })
})

test('a workbook has numbers to add up, and the exact text of long ones beside them', async () => {
  const stated = await statement([madeUp], { year: '2024' })
  const [summary, sheet] = statementSheets(stated, ['reconciled'])
  const names = sheet?.columns.map(({ name }) => name) ?? []
  const [at, exactAt] = [names.indexOf('closing'), names.indexOf('closing_exact')]
  const table = statementTable(stated)
  const closing = table.columns.findIndex(({ name }) => name === 'closing')
  expect(sheet?.columns[at]?.kind).toBe('amount')
  expect(sheet?.rows.map((row) => row[exactAt] ?? row[at])).toEqual(table.rows.map((row) => row[closing]))
  expect(sheet?.rows.every((row) => row[at] !== undefined)).toBe(true)
  expect([summary?.name, summary?.maxPages, summary?.rows.length]).toEqual(['Summary', 2, table.rows.length])
  expect(summary?.notes).toEqual(expect.arrayContaining(['reconciled', 'Signature:']))
})

test('values the closing balance of an unfinished period at its newest row', async () => {
  const prices = join(folder, 'newest.csv')
  writeFileSync(prices, 'date,asset,currency,price\n2024-03-09,native,USD,50\n')
  const { lines } = await statement([madeUp], { from: '2024-03-09', until: '2199-12-31', prices })
  const [coin] = lines
  expect(coin?.asset_symbol).toBe('AVAX')
  expect(coin?.values.closing).toBe(((coin?.amounts.closing ?? 0n) * 50n + 5n * 10n ** 9n) / 10n ** 10n)
  const ended = await statement([madeUp], { from: '2024-03-09', until: '2024-12-31', prices })
  expect(ended.lines[0]?.values.closing).toBe(null)
})

test('adds opening balances, as balances do', async () => {
  const opening = join(folder, 'opening.csv')
  const [, ben] = WALLETS
  const head = 'wallet_address,asset_type,asset_address,token_id,amount'
  writeFileSync(opening, `${head}\n${ben?.address},erc20,0x${'c'.repeat(40)},,2\n`)
  const { lines, exports } = await statement([madeUp], { year: '2024', opening })
  const usdc = lines.find(
    ({ asset_symbol, wallet_label }) => asset_symbol === 'USDC' && wallet_label === ben?.label,
  )
  expect(usdc?.amounts).toMatchObject({ opening: 2_000_000n, own_out: 1n, closing: 1_999_999n })
  expect(exports[0]?.belowZero).toEqual([])
  expect((await statement([madeUp], { year: '2024' })).exports[0]?.belowZero).toHaveLength(1)
})

describe('several exports', () => {
  test('give one statement, with the chain in the first column', async () => {
    const options = { from: '2023-01-01', until: '2024-12-31' }
    const both = await statement([madeUp, mainnet], options)
    const { columns, rows } = statementTable(both)
    expect(columns.slice(0, 2).map(({ name }) => name)).toEqual(['chain_id', 'wallet_address'])
    const each = await Promise.all([madeUp, mainnet].map((output) => statement([output], options)))
    const single = each.flatMap((one) => statementTable(one).rows)
    expect(rows.map((row) => row.slice(1))).toEqual(single)
    expect(new Set(rows.map(([chain]) => chain)).size).toBe(2)
  })

  test('may not contain a wallet of a chain twice', async () => {
    await expect(statement([madeUp, madeUp], { year: '2024' })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('both contain wallet'),
    })
  })
})

test.for([
  { options: {}, says: '--from or --year is missing' },
  { options: { from: '2024-01-01' }, says: '--until or --year is missing' },
  { options: { year: '2024', from: '2024-01-01' }, says: 'two periods' },
  { options: { year: '24' }, says: '--year: found 24' },
  { options: { year: '9999' }, says: 'expected a year from 1970 to 8999' },
  { options: { from: '2024-02-01', until: '2024-01-01' }, says: 'is not before' },
])('rejects the period $options', async ({ options, says }) => {
  await expect(statement([madeUp], options)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(says),
  })
})
