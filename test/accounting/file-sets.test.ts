import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import { openCsvWriter } from '../../src/accounting/csv/csv-writer.ts'
import type { ConvertOptions } from '../../src/accounting/options.ts'
import { etherscan } from '../../src/accounting/presets/etherscan.ts'
import type { Conversion } from '../../src/accounting/text-writer.ts'
import { openDataset } from '../../src/read/dataset.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { writePrices } from '../helpers/prices.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { EQUAL_SWAPS } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
/** Wallets with payments to each other, also through multisend contracts. */
const addresses = [...demoWallets.slice(0, 16), ...demoWallets.slice(44, 45)]
const outs = { rp2: join(folder, 'rp2'), etherscan: join(folder, 'etherscan') }
let ledger: TextRow[] = []
let prices = ''

beforeAll(async () => {
  await exportDemo(output, { addresses, endBlock: 60 })
  ledger = await readCsvTable(output, 'ledger')
  prices = await writePrices(output, join(folder, 'prices.csv'))
  await convert(output, { to: 'rp2', out: outs.rp2, prices })
  await convert(output, { to: 'etherscan', out: outs.etherscan })
})

type Row = Record<string, string>
const rowsOf = (path: string): Row[] => parse(readFileSync(path), { columns: true })
const hasDigits = (text: string | undefined) => /[1-9]/.test(text ?? '')

/** Sums by wallet and asset, in the asset's smallest unit. */
type Sums = Map<string, bigint>
const add = (sums: Sums, key: string, value: bigint) => sums.set(key, (sums.get(key) ?? 0n) + value)
const notZero = (sums: Sums) => [...sums].filter(([, value]) => value !== 0n).sort()

const decimalsOf = new Map<string, number>()
const assetOf = (address: string, id: string) =>
  address === '' ? 'coin' : `${address.slice(2, 10)}${id && `#${id}`}`

function unitsOf(amount: string, asset: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(decimalsOf.get(asset) ?? 0, '0'))
}

function ledgerSums(): Sums {
  const sums: Sums = new Map()
  for (const row of ledger) {
    const asset = assetOf(row.asset_address ?? '', row.token_id ?? '')
    decimalsOf.set(asset, Number(row.asset_decimals ?? 0))
    add(sums, `${row.wallet_address} ${asset}`, BigInt(row.value ?? ''))
  }
  return sums
}

function addOmitted(sums: Sums, out: string): void {
  for (const row of rowsOf(`${out}.omitted.csv`)) {
    const asset = assetOf(row.asset_address ?? '', row.token_id ?? '')
    add(sums, `${row.wallet_address} ${asset}`, BigInt(row.value ?? ''))
  }
}

const assetNamed = (name: string) => /-([0-9a-f]{8})$/.exec(name)?.[1] ?? 'coin'

describe('files for rp2', () => {
  test('have, together with the list of omissions, the sums of the ledger for each wallet', () => {
    const expected = ledgerSums()
    // The wallets have no labels, so the files contain their addresses.
    const sums: Sums = new Map()
    const move = (wallet: string | undefined, name: string | undefined, amount: string, sign: bigint) => {
      const asset = assetNamed(name ?? '')
      add(sums, `${wallet} ${asset}`, sign * unitsOf(amount, asset))
    }
    for (const row of rowsOf(join(outs.rp2, 'in.csv'))) move(row.exchange, row.asset, row.crypto_in ?? '', 1n)
    for (const row of rowsOf(join(outs.rp2, 'out.csv'))) {
      move(row.exchange, row.asset, row.crypto_out_no_fee ?? '', -1n)
      move(row.exchange, row.asset, row.crypto_fee ?? '', -1n)
    }
    for (const row of rowsOf(join(outs.rp2, 'intra.csv'))) {
      move(row.from_exchange, row.asset, row.crypto_sent ?? '', -1n)
      move(row.to_exchange, row.asset, row.crypto_received ?? '', 1n)
    }
    addOmitted(sums, outs.rp2)
    expect(notZero(sums)).toEqual(notZero(expected))
    expect(sums.size).toBeGreaterThan(100)
  })

  test('have only a fee in lines of fees, and only a sent amount in other lines', () => {
    for (const row of rowsOf(join(outs.rp2, 'out.csv'))) {
      const isFee = row.transaction_type === 'FEE'
      expect([row.unique_id, hasDigits(row.crypto_fee), hasDigits(row.crypto_out_no_fee)]).toEqual([
        row.unique_id,
        isFee,
        !isFee,
      ])
    }
  })

  test('have one line for both sides of a transfer between own wallets, and none for a transfer to the same wallet', () => {
    const intra = rowsOf(join(outs.rp2, 'intra.csv'))
    expect(intra.filter((row) => row.from_exchange === row.to_exchange)).toEqual([])
    expect(intra.filter((row) => row.crypto_sent !== row.crypto_received)).toEqual([])
    const rowOf = new Map(ledger.map((row) => [row.entry_id, row]))
    const sent = intra.map((row) => {
      const { direction, counterparty_is_own } = rowOf.get(row.unique_id?.replace(/-\d+$/, '')) ?? {}
      return `${direction} ${row.notes?.includes(' / via 0x') ? 'multisend' : counterparty_is_own}`
    })
    expect(new Set(sent)).toEqual(new Set(['out true', 'out multisend']))
    expect(intra.length).toBeGreaterThan(50)
  })

  test('cannot be written without prices, and omit movements that have none', async () => {
    await expect(convert(output, { to: 'rp2', out: join(folder, 'none') })).rejects.toMatchObject({
      code: 'USAGE',
      message: 'rp2: every line needs a price',
    })
    const few = await convert(output, {
      to: 'rp2',
      out: join(folder, 'few'),
      prices: await writePrices(output, join(folder, 'few.csv')),
      until: '2023-11-15',
    })
    expect(few.omitted['there is no price']).toBeUndefined()
    writeFileSync(join(folder, 'coin.csv'), 'date,asset,currency,price\n2023-11-14,native,USD,5\n')
    const coin = await convert(output, {
      to: 'rp2',
      out: join(folder, 'coin'),
      prices: join(folder, 'coin.csv'),
    })
    const unpriced = rowsOf(`${join(folder, 'coin')}.omitted.csv`).filter(({ reason }) =>
      /no price/.test(reason ?? ''),
    )
    expect(coin.omitted['there is no price']).toBe(unpriced.length)
    expect(new Set(unpriced.map(({ asset_type }) => asset_type))).toEqual(new Set(['erc20']))
    expect(unpriced.length).toBeGreaterThan(100)
  })
})

describe('files in the format of an explorer', () => {
  const files = (kind: RegExp) => readdirSync(outs.etherscan).filter((name) => kind.test(name))
  const eachRow = (kind: RegExp, onRow: (row: Row, wallet: string) => void) => {
    for (const name of files(kind))
      for (const row of rowsOf(join(outs.etherscan, name))) onRow(row, /0x[0-9a-f]{40}/.exec(name)?.[0] ?? '')
  }

  test('are four per wallet, with its address in their names', () => {
    const wallets = new Set(ledger.map(({ wallet_address }) => wallet_address))
    const expected = [...wallets].flatMap((wallet) =>
      ['', 'internal-', 'token-', 'nft-'].map((kind) => `export-${kind}${wallet}.csv`),
    )
    expect(readdirSync(outs.etherscan).sort()).toEqual(expected.sort())
  })

  test('have, together with the list of omissions, the sums of the ledger for each wallet', () => {
    const expected = ledgerSums()
    const sums: Sums = new Map()
    eachRow(/^export-(internal-)?0x/, (row, wallet) => {
      const coins = (name: string) => unitsOf(row[name] ?? '0', 'coin')
      add(sums, `${wallet} coin`, coins('Value_IN(AVAX)') - coins('Value_OUT(AVAX)') - coins('TxnFee(AVAX)'))
    })
    eachRow(/^export-token-/, (row, wallet) => {
      const asset = assetOf(row.ContractAddress ?? '', '')
      const sign = row.To === wallet ? 1n : -1n
      expect([row.To, row.From]).toContain(wallet)
      add(sums, `${wallet} ${asset}`, sign * unitsOf(row.TokenValue ?? '', asset))
    })
    eachRow(/^export-nft-/, (row, wallet) => {
      const asset = assetOf(row.ContractAddress ?? '', row['Token ID'] ?? '')
      add(sums, `${wallet} ${asset}`, (row.To === wallet ? 1n : -1n) * unitsOf(row.Quantity ?? '', asset))
    })
    addOmitted(sums, outs.etherscan)
    expect(notZero(sums)).toEqual(notZero(expected))
  })

  test('contain the sender, the receiver and the status of each transaction', async () => {
    const facts = new Map(
      (await readCsvTable(output, 'transactions')).map((row) => [row.transaction_hash, row] as const),
    )
    let failures = 0
    eachRow(/^export-0x/, (row) => {
      const fact = facts.get(row['Transaction Hash'] ?? '')
      expect([row.From, row.To]).toEqual([fact?.from_address ?? '', fact?.to_address ?? ''])
      expect([row.Blockno, row.Status !== '']).toEqual([fact?.block_number, fact?.success === 'false'])
      if (row.Status !== '') failures += 1
    })
    expect(failures).toBeGreaterThan(10)
  })

  test('pass the check, which recognizes each file by its header', async () => {
    const problems: unknown[] = []
    for (const name of files(/./))
      await checkFile(join(outs.etherscan, name), 'etherscan', (problem) => problems.push([name, problem]))
    expect(problems).toEqual([])
  })
})

describe('files for rotki', () => {
  const swaps = join(folder, 'swaps')
  beforeAll(() => exportMadeUp(swaps, EQUAL_SWAPS))
  const converted = async (options: Partial<ConvertOptions> = {}) => {
    const out = join(folder, `rotki-${options.swaps}`)
    await convert(swaps, { to: 'rotki', out, ...options })
    return ['events', 'trades'].map((name) => rowsOf(join(out, `${name}.csv`)))
  }

  test('have no two trades that rotki would treat as one, and the other swap as two events', async () => {
    const [events = [], trades = []] = await converted()
    expect(new Set(trades.map(({ Timestamp }) => Timestamp)).size).toBe(10)
    expect(trades).toHaveLength(10)
    expect(trades[9]).toMatchObject({
      'Spend Currency': `eip155:43114/erc20:0x${'c'.repeat(40)}`,
      'Spend Amount': '5',
      'Receive Currency': `eip155:43114/erc20:0x${'d'.repeat(40)}`,
      Location: 'avalanche',
    })
    const types = ['Spend', 'Withdrawal', 'Deposit'].map((type) => events.filter(({ Type }) => Type === type))
    expect(types.map(({ length }) => length)).toEqual([20, 10, 10])
  })

  describe('of two chains with the same location, and with a swap of equal contracts each', () => {
    const chains = ['59144', '81457'] as const
    const [linea, blast] = [join(folder, '59144'), join(folder, '81457')]
    const tradesOf = async (name: string, options: Partial<ConvertOptions>) => {
      const out = join(folder, name)
      await convert([linea, blast], { to: 'rotki', out, ...options })
      return rowsOf(join(out, 'trades.csv'))
    }

    beforeAll(async () => {
      for (const chain of chains) {
        const swap = JSON.stringify(EQUAL_SWAPS.slice(0, 1)).replaceAll('"43114"', `"${chain}"`)
        await exportMadeUp(join(folder, chain), JSON.parse(swap), chain)
      }
    })

    test('have both trades, because the identifiers of their assets differ', async () => {
      const trades = await tradesOf('two-chains', {})
      expect(trades.map(({ Location }) => Location)).toEqual(['external', 'external'])
      expect(new Set(trades.map((trade) => trade['Spend Currency'])).size).toBe(2)
    })

    test('have one trade if the user gives these the same identifiers, in any letter case', async () => {
      const lines = chains.flatMap((chain, n) =>
        ['c', 'd'].map((digit) => {
          const contract = (n === 0 ? digit : digit.toUpperCase()).repeat(40)
          return `${chain},0x${digit.repeat(40)},,eip155:1/erc20:0x${contract}`
        }),
      )
      const tickers = join(folder, 'identifiers.csv')
      writeFileSync(tickers, ['chain,contract,ticker,rotki', ...lines, ''].join('\n'))
      expect(await tradesOf('one-identifier', { tickers })).toHaveLength(1)
      expect(rowsOf(join(folder, 'one-identifier', 'events.csv')).map(({ Type }) => Type)).toEqual(
        expect.arrayContaining(['Withdrawal', 'Deposit']),
      )
    })
  })

  test('have only events with --swaps off', async () => {
    const [events = [], trades = []] = await converted({ swaps: 'off' })
    expect([events.length, trades.length]).toEqual([60, 0])
  })
})

test.for([
  { options: { to: 'etherscan' }, says: 'etherscan: it consists of several files' },
  { options: { to: 'rp2', out: 'x', perWallet: true }, says: 'rp2: its files contain all wallets together' },
  { options: { to: 'etherscan', out: 'x', labels: 'x.csv' }, says: 'etherscan: its lines have no type' },
  { options: { to: 'etherscan', out: 'x', swaps: 'pair' as const }, says: 'has no lines of two assets' },
])('rejects options that do not fit the format: $says', async ({ options, says }) => {
  await expect(convert(output, options)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(says),
    fix: expect.any(String),
  })
})

test('rejects an explorer format for an export without the transactions table', async () => {
  const bare = join(folder, 'bare')
  await exportDemo(bare, { endBlock: 5, tables: ['ledger'] })
  await expect(convert(bare, { to: 'etherscan', out: join(folder, 'x') })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('it needs the transactions table'),
  })
})

test('a format whose limits cannot be checked leaves no temporary folder', async () => {
  const scratchFolders = () => readdirSync(tmpdir()).filter((name) => name.includes(`-${process.pid}-`))
  const before = scratchFolders()
  const opened = await openDataset(output)
  const unreadable = { ...opened, collect: () => Promise.reject(new Error('unreadable ledger')) }
  const files = etherscan.files.map((file) => ({ ...file, numbers: { ...file.numbers, maxSumDigits: 30 } }))
  const sources = [{ output, opened: unreadable, contracts: new Map() }]
  const context = { sources, options: { to: 'etherscan', out: 'x' } }
  const opening = openCsvWriter({ ...etherscan, files }, context as unknown as Conversion)
  await expect(opening).rejects.toThrow('unreadable ledger')
  await opened.close()
  expect(scratchFolders()).toEqual(before)
})

test('files for tools that read Etherscan files have values in USD, and prices in another currency are refused', async () => {
  const out = join(folder, 'etherscan-priced')
  await convert(output, { to: 'etherscan', out, prices })
  const rows = readdirSync(out).flatMap((file) => rowsOf(join(out, file)))
  for (const column of ['TxnFee(USD)', 'Historical $Price/AVAX'])
    expect(rows.filter((row) => hasDigits(row[column])).length).toBeGreaterThan(10)
  const euros = join(folder, 'euros.csv')
  writeFileSync(euros, readFileSync(prices, 'utf8').replaceAll(',USD,', ',EUR,'))
  await expect(convert(output, { to: 'etherscan', out, prices: euros })).rejects.toMatchObject({
    code: 'USAGE',
    message: 'etherscan: its values are in USD, and the prices are in EUR',
  })
})
