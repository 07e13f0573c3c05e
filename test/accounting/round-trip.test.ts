import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import type { Preset, Role } from '../../src/accounting/csv/preset.ts'
import { FORMAT_NAMES, PRESETS } from '../../src/accounting/formats.ts'
import { rotki } from '../../src/accounting/presets/rotki.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { UNHELD_SWAPS } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'

const folder = suiteFolder()
const outputs = {
  csv: join(folder, 'csv'),
  parquet: join(folder, 'parquet'),
  swaps: join(folder, 'swaps'),
}
let ledger: TextRow[] = []
let multisendParts = 0

beforeAll(async () => {
  await exportDemo(outputs.csv, { endBlock: 60 })
  await exportMadeUp(outputs.swaps, UNHELD_SWAPS)
  ledger = await readCsvTable(outputs.csv, 'ledger')
  multisendParts = await countMultisendParts()
})

/** Each kind of file: one with placeholders, one with a column of fees, and one of several files. */
const KINDS = ['koinly', 'bittytax', 'rotki']
const tagsOf = (to: string) => (KINDS.includes(to) ? [] : ['long'])

/** The columns of received amounts, sent amounts and fees by preset, as the programs read them. */
const COLUMNS: Record<string, { in: [string, string]; out: [string, string]; fee?: [string, string] }> = {
  koinly: { in: ['Received Amount', 'Received Currency'], out: ['Sent Amount', 'Sent Currency'] },
  cointracker: { in: ['Received Quantity', 'Received Currency'], out: ['Sent Quantity', 'Sent Currency'] },
  cointracking: { in: ['Buy Amount', 'Buy Currency'], out: ['Sell Amount', 'Sell Currency'] },
  zenledger: { in: ['IN Amount', 'IN Currency'], out: ['Out Amount', 'Out Currency'] },
  tokentax: { in: ['BuyAmount', 'BuyCurrency'], out: ['SellAmount', 'SellCurrency'] },
  coinledger: { in: ['Amount Received', 'Asset Received'], out: ['Amount Sent', 'Asset Sent'] },
  taxbit: { in: ['Received Quantity', 'Received Currency'], out: ['Sent Quantity', 'Sent Currency'] },
  blockpit: { in: ['Incoming Amount', 'Incoming Asset'], out: ['Outgoing Amount', 'Outgoing Asset'] },
  coinpanda: { in: ['Received Amount', 'Received Currency'], out: ['Sent Amount', 'Sent Currency'] },
  bittytax: {
    in: ['Buy Quantity', 'Buy Asset'],
    out: ['Sell Quantity', 'Sell Asset'],
    fee: ['Fee Quantity', 'Fee Asset'],
  },
  kryptos: { in: ['Received Amount', 'Received Asset'], out: ['Sent Amount', 'Sent Asset'] },
  generic: { in: ['received_amount', 'received_asset'], out: ['sent_amount', 'sent_asset'] },
}

type Fraction = { value: bigint; decimals: number }

function add(sums: Map<string, Fraction>, asset: string, text: string, isOut: boolean): void {
  if (text === '') return
  const [whole = '', fraction = ''] = text.split('.')
  const known = sums.get(asset) ?? { value: 0n, decimals: 0 }
  const decimals = Math.max(known.decimals, fraction.length)
  const value = BigInt(whole + fraction) * 10n ** BigInt(decimals - fraction.length)
  const before = known.value * 10n ** BigInt(decimals - known.decimals)
  sums.set(asset, { value: before + (isOut ? -value : value), decimals })
}

/** Converts sums to the smallest unit of each asset. */
function inUnits(sums: ReadonlyMap<string, Fraction>): Map<string, bigint> {
  return new Map(
    [...sums].map(([asset, { value, decimals }]) => {
      const unit = unitsOf.get(asset) ?? 0
      return [
        asset,
        decimals > unit ? value / 10n ** BigInt(decimals - unit) : value * 10n ** BigInt(unit - decimals),
      ]
    }),
  )
}

const keyOf = (address: string, id: string) =>
  address === '' ? 'coin' : `${address.slice(2, 10)}${id && `#${id}`}`
const unitsOf = new Map<string, number>()

function ledgerSums(rows: readonly TextRow[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const { asset_address, token_id, value, asset_decimals } of rows) {
    const key = keyOf(asset_address ?? '', token_id ?? '')
    unitsOf.set(key, Number(asset_decimals ?? 0))
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(value ?? ''))
  }
  return sums
}

const notZero = (sums: ReadonlyMap<string, bigint>) => [...sums].filter(([, value]) => value !== 0n).sort()

function recordsOf(path: string): Record<string, string>[] {
  const files = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path]
  return files.flatMap((file): Record<string, string>[] =>
    parse(readFileSync(file), { columns: true, bom: false }),
  )
}

/** Returns the key of the asset that a name or placeholder in a file refers to. */
function assetOf(name: string, placeholders: ReadonlyMap<string, string>): string {
  const placeholder = placeholders.get(name)
  if (placeholder !== undefined) return placeholder
  const [, contract = '', id = ''] = /\/erc\d+:0x([0-9a-f]{8})[0-9a-f]{32}(?:\/(\d+))?$/.exec(name) ?? []
  if (contract !== '') return `${contract}${id && `#${id}`}`
  const [, suffix, token = ''] = /-([0-9a-f]{8})(?:#(\d+))?$/.exec(name) ?? []
  return suffix === undefined ? 'coin' : `${suffix}${token && `#${token}`}`
}

async function convertOnce(to: string, output: string, fees: 'attach' | 'separate' = 'separate') {
  const out = join(folder, `${to}-${basename(output)}-${fees}`)
  const swaps = output === outputs.swaps ? undefined : 'off'
  const result = await convert(output, { to, out, swaps, fees })
  return { out, output, ...result }
}

type Conversion = Awaited<ReturnType<typeof convertOnce>>
const conversions = new Map<string, Promise<Conversion>>()

/** All tests of a format read the same conversion of an export. */
function converted(to: string, output = outputs.csv): Promise<Conversion> {
  const key = `${to} ${output}`
  const conversion = conversions.get(key) ?? convertOnce(to, output)
  conversions.set(key, conversion)
  return conversion
}

/** Symbol and value of the omitted movements of the made-up swaps: those without decimals, and more for some formats. */
const NAMELESS = [
  ['', '12345'],
  ['', '-2345'],
  ['', '-1000'],
  ['', '1000000'],
]
const OMITTED: Record<string, string[][]> = {
  bittytax: [...NAMELESS, ['WETH.e', String(10n ** 73n + 1n)]],
  cointracker: [...NAMELESS, ['LONG', '1']],
}

/** Sums of a file and its list of omissions by asset, in the asset's smallest unit. */
function fileSums(to: string, { out, output, omittedFile }: Conversion): Map<string, bigint> {
  const map = to === 'koinly' ? recordsOf(`${output}.assets.csv`) : []
  const placeholders = new Map(
    map.map((row) => [row.placeholder ?? '', keyOf(row.asset_address ?? '', row.token_id ?? '')]),
  )
  const sums = new Map<string, Fraction>()
  const columns = COLUMNS[to]
  for (const row of recordsOf(out)) {
    if (columns === undefined) {
      const isOut = /^(Withdrawal|Spend|send|fee|add-liquidity|return-lp-token)$/.test(row.Type ?? '')
      const amount = row.Amount ?? row['Base Amount'] ?? row['Receive Amount']
      const name = row.Currency ?? row['Base Currency'] ?? row['Receive Currency']
      add(sums, assetOf(name ?? '', placeholders), amount ?? '', isOut)
      const [quoteAmount = '', quote = ''] = [
        row['Quote Amount (Optional)'] ?? row['Spend Amount'],
        row['Quote Currency (Optional)'] ?? row['Spend Currency'],
      ]
      add(sums, assetOf(quote, placeholders), quoteAmount, true)
      continue
    }
    for (const direction of ['in', 'out', 'fee'] as const) {
      const [amount = '', asset = ''] = columns[direction] ?? []
      add(sums, assetOf(row[asset] ?? '', placeholders), row[amount] ?? '', direction !== 'in')
    }
  }
  const found = inUnits(sums)
  for (const { asset_address, token_id, value } of listedIn(omittedFile)) {
    const key = keyOf(asset_address ?? '', token_id ?? '')
    found.set(key, (found.get(key) ?? 0n) + BigInt(value ?? ''))
  }
  return found
}

/** The sums of the fees that are in columns of other lines, beside their amounts. */
function attachedFees({ columns, attachedFees }: Preset, out: string): Map<string, Fraction> {
  const headerOf = (role: Role) => columns.find(([, columnRole]) => columnRole === role)?.[0] ?? ''
  const [amount, asset, sent] = (['feeAmount', 'feeAsset', 'outAsset'] as const).map(headerOf) as [
    string,
    string,
    string,
  ]
  const isIncluded = attachedFees?.ofSameAsset?.startsWith('included') ?? false
  const sums = new Map<string, Fraction>()
  for (const row of recordsOf(out))
    if (!isIncluded || row[asset] !== row[sent]) add(sums, 'coin', row[amount] ?? '', true)
  return sums
}

/** The files of a conversion without the list of omissions. */
const tablesOf = ({ files, omittedFile }: Conversion) => files.filter((file) => file !== omittedFile)
const textOf = (conversion: Conversion) =>
  tablesOf(conversion)
    .map((file) => readFileSync(file, 'utf8'))
    .join('')

/** Counts the lines for further parts of payments through multisend contracts, omitted ones included. */
async function countMultisendParts(): Promise<number> {
  const { out, omittedFile } = await converted('generic')
  const lines = [...recordsOf(out), ...listedIn(omittedFile)]
  return lines.filter(({ entry_id }) => entry_id?.includes('-')).length
}

const listedIn = (omittedFile: string | undefined) =>
  omittedFile === undefined ? [] : recordsOf(omittedFile)

describe.for(
  FORMAT_NAMES.filter(
    (name) => COLUMNS[name] !== undefined || name === 'rotki' || name === 'cryptotaxcalculator',
  ),
)('a file for %s', (to) => {
  const tags = tagsOf(to)

  test('has, together with the list of omissions, the sums of the ledger', { tags }, async () => {
    const expected = ledgerSums(ledger)
    const found = fileSums(to, await converted(to))
    expect(notZero(found)).toEqual(notZero(expected))
    expect(found.size).toBeGreaterThan(20)
  })

  test('has one line for every ledger row, and every further part of a multisend, that is not omitted or merged', {
    tags,
  }, async () => {
    const { out, movements, lines, merged, omittedFile } = await converted(to)
    expect(movements).toBe(ledger.length)
    const omitted = listedIn(omittedFile).filter(({ reason }) => !/rounded/.test(reason ?? ''))
    expect(multisendParts).toBeGreaterThan(0)
    expect(lines + merged + omitted.length).toBe(ledger.length + multisendParts)
    const rows = recordsOf(out)
    expect(rows).toHaveLength(lines)
  })
})

describe.for([...PRESETS.filter(({ supportsSwaps }) => supportsSwaps), rotki])(
  'swaps that $name cannot represent',
  ({ name: to }) => {
    test('omit only the unsupported side, and have the sums of the ledger', {
      tags: tagsOf(to),
    }, async () => {
      const conversion = await converted(to, outputs.swaps)
      const expected = ledgerSums(await readCsvTable(outputs.swaps, 'ledger'))
      expect(notZero(fileSums(to, conversion))).toEqual(notZero(expected))
      const omitted = listedIn(conversion.omittedFile).filter(({ reason }) => !/rounded/.test(reason ?? ''))
      expect(omitted.map(({ asset_symbol, value }) => [asset_symbol, value])).toEqual(OMITTED[to] ?? NAMELESS)
    })
  },
)

const ATTACHING = PRESETS.filter(({ attachedFees }) => attachedFees !== undefined)

describe.for(ATTACHING)('a file for $name with fees in the lines that they were paid for', (preset) => {
  const { name: to } = preset
  test('has the sums of the ledger, passes the check, and has fewer lines', {
    tags: to === 'koinly' || to === 'cointracking' ? [] : ['long'],
  }, async () => {
    const conversion = await convertOnce(to, outputs.csv, 'attach')
    const sums = fileSums(to, conversion)
    // The fee column of BittyTax is in its sums already.
    if (to !== 'bittytax')
      for (const [asset, value] of inUnits(attachedFees(preset, conversion.out)))
        sums.set(asset, (sums.get(asset) ?? 0n) + value)
    expect(notZero(sums)).toEqual(notZero(ledgerSums(ledger)))
    expect(conversion.lines).toBeLessThan((await converted(to)).lines)
    const problems: unknown[] = []
    await checkFile(conversion.out, to, (problem) => problems.push(problem))
    expect(problems).toEqual([])
  })
})

test.for(['blockpit', 'rotki', 'hledger'])(
  '%s has fees in lines of their own, whatever is asked for',
  async (to) => {
    await expect(
      convert(outputs.csv, { to, out: join(folder, 'refused'), fees: 'attach' }),
    ).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('fees have rows of their own'),
    })
  },
)

test('writes a swap that the format cannot represent with the lines and labels of swaps: off, less refunds', async () => {
  const labels = join(folder, 'labels.csv')
  writeFileSync(labels, 'match,type\nbuy(),Gift-Sent\n')
  const [paired = [], separate] = await Promise.all(
    [undefined, 'off' as const].map(async (swaps) => {
      const out = join(folder, `labelled-${swaps}`)
      await convert(outputs.swaps, { to: 'bittytax', out, labels, swaps, fees: 'separate' })
      return recordsOf(out)
    }),
  )
  const lines = paired.filter(({ Type }) => Type !== 'Trade')
  expect(paired.length - lines.length).toBe(2)
  const [net, ...others] = lines.filter((line) => !separate?.some((one) => isDeepStrictEqual(one, line)))
  expect([net?.['Sell Quantity'], net?.['Sell Asset'], others]).toEqual(['1.5', 'AVAX', []])
  const labelled = lines.filter(({ Type }) => Type === 'Gift-Sent')
  expect(labelled.map((line) => line['Buy Quantity'])).toEqual(['', ''])
})

describe.for(FORMAT_NAMES.filter((name) => name !== 'rp2' && name !== 'etherscan'))('a file for %s', (to) => {
  test('passes the check of its format', { tags: tagsOf(to) }, async () => {
    const csv = await converted(to)
    const problems: unknown[] = []
    let checked = 0
    for (const file of tablesOf(csv))
      checked += await checkFile(file, to, (problem) => problems.push(problem))
    expect(problems).toEqual([])
    expect(checked).toBe(csv.lines)
  })

  test('is the same from CSV and Parquet', { tags: ['long'] }, async () => {
    if (!existsSync(outputs.parquet))
      await exportDemo(outputs.parquet, { endBlock: 60, format: 'parquet', compression: 'zstd' })
    expect(textOf(await converted(to))).toBe(textOf(await converted(to, outputs.parquet)))
  })

  test('contains no number with an exponent and no invisible character', { tags: tagsOf(to) }, async () => {
    const text = textOf(await converted(to))
    expect(text).not.toMatch(/(^|[,\s])-?\d+(\.\d+)?e[+-]?\d+([,\s]|$)/im)
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})
