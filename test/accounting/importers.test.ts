// @module-tag long

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import { shiftDecimal } from '../../src/core/platform/decimal.ts'
import { run } from '../../src/export/run.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { testJob } from '../helpers/jobs.ts'
import { MAINNET_BLOCKS } from '../helpers/mainnet-blocks.ts'
import { demoWallets, smallWallets } from '../helpers/node-data.ts'
import { writePrices } from '../helpers/prices.ts'
import { IMPORTERS_PYTHON, isMissing } from '../helpers/programs.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { WORLD } from './cases/world.ts'
import { GOLDEN_CHAIN, WHOLE_UNITS } from './golden-chain.ts'
import { beancountBalances, hledgerBalances, ledgerBalances, plainDigits } from './journal-balances.ts'
import { exportMadeUp } from './made-up-export.ts'
import { ROUNDING_CHAIN } from './rounding-chain.ts'

const folder = suiteFolder()
const at = (name: string) => join(folder, name)

/** The hand-made cases of accountants, the demo, a part of a chain that was recorded, two blocks of Ethereum, and amounts that rp2 rounds. */
const CHAINS = ['cases', 'demo', 'recorded', 'mainnet', 'rounding'] as const

beforeAll(async () => {
  await exportMadeUp(at('cases'), WORLD, '43114')
  await exportDemo(at('recorded'), { addresses: [...demoWallets.slice(0, 4), ...smallWallets] })
  const demo = ['run', join('jobs', 'examples', 'demo.yaml'), '--output', at('demo')]
  expect(await runCommand(demo)).toMatchObject({ exit: 0 })
  const mainnet = testJob({ ...MAINNET_BLOCKS, nativeSymbol: 'ETH', output: at('mainnet') })
  expect((await run([mainnet])).code).toBeUndefined()
  await exportMadeUp(at('golden'), GOLDEN_CHAIN)
  await exportMadeUp(at('rounding'), ROUNDING_CHAIN)
  await exportMadeUp(at('large'), WHOLE_UNITS)
})

/** Runs Python, which must succeed; the importers print progress on stderr. Returns the lines that it prints. */
function runPython(...args: string[]): string[] {
  const { stdout, stderr, status } = spawnSync(IMPORTERS_PYTHON, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter(Boolean)
}

function readBy(program: string, ...files: string[]): string[] {
  return runPython('-c', program, ...files)
}

/** Prints the type of each row, or the error if BittyTax rejects the row. */
const BITTYTAX = `
import csv, sys
from bittytax.t_row import TransactionRow
for number, row in enumerate(csv.reader(open(sys.argv[1])), 1):
    if number == 1: continue
    parsed = TransactionRow(row, number)
    try:
        parsed.parse()
        print(row[0])
    except Exception as error:
        print(f'line {number}: {type(error).__name__}: {error}')
`

test.skipIf(isMissing('bittytax (PyPI)'))(
  'BittyTax reads every line, with labels by counterparty, method and hash',
  async () => {
    const parties = ['1', '2', '3', '4'].map((digit) => `0x${digit.repeat(40)}`)
    const labels = parties.flatMap((party) => [`${party},Income`, `${party},Gift-Sent`])
    writeFileSync(at('labels.csv'), ['match,type', ...labels, ''].join('\n'))
    const out = at('bittytax.csv')
    await convert(at('golden'), { to: 'bittytax', swaps: 'off', labels: at('labels.csv'), out })
    const types = readBy(BITTYTAX, out)
    expect(types.filter((type) => type.includes(':'))).toEqual([])
    expect(new Set(types)).toEqual(new Set(['Spend', 'Income', 'Gift-Sent', 'Deposit', 'Withdrawal']))
  },
)

/** Compares every amount, its value and the running sums with zero, using rp2's own number type as rp2 does. */
const RP2 = `
import csv, sys
from rp2.rp2_decimal import RP2Decimal, ZERO
for path in sys.argv[1:]:
    sums = {}
    for row in csv.DictReader(open(path)):
        amount = RP2Decimal(row.get('crypto_in') or row['crypto_out_no_fee']) + RP2Decimal(row['crypto_fee'] or '0')
        worth = amount * RP2Decimal(row['spot_price'])
        sums[row['asset']] = sums.get(row['asset'], ZERO) + amount
        assert amount > ZERO and worth > ZERO and sums[row['asset']] > ZERO
        print(row['asset'])
`

test.skipIf(isMissing('rp2 (PyPI)'))('rp2 can compare every amount and value in its files', async () => {
  const days = ['native', 'MANY', 'EDGE', 'DEAR', 'MOVED'].flatMap((asset) =>
    ['2024-01-01', '2024-01-03'].map((day) => `${day},${asset},USD,${asset === 'DEAR' ? '2' : '1'}`),
  )
  writeFileSync(at('prices.csv'), ['date,asset,currency,price', ...days, ''].join('\n'))
  await convert(at('large'), { to: 'rp2', out: at('rp2'), prices: at('prices.csv') })
  const assets = readBy(RP2, at('rp2/in.csv'), at('rp2/out.csv'))
  expect(new Set(assets.map((name) => name.split('-')[0]))).toEqual(new Set(['AVAX', 'EDGE', 'MOVED']))
})

/** The balances of all wallets and assets according to the ledger, without what a conversion omitted, sorted. */
async function balancesOf(
  output: string,
  omittedFile: string | undefined,
  { byCollection = false } = {},
): Promise<string[]> {
  const sums = new Map<string, bigint>()
  const decimals = new Map<string, number>()
  const add = (row: TextRow, sign: bigint) => {
    const key = [row.wallet_address, row.asset_address, byCollection ? '' : row.token_id].join()
    sums.set(key, (sums.get(key) ?? 0n) + sign * BigInt(row.value ?? ''))
    if (row.asset_decimals !== undefined) decimals.set(key, Number(row.asset_decimals))
  }
  for (const row of await readCsvTable(output, 'ledger')) add(row, 1n)
  const omitted: TextRow[] =
    omittedFile === undefined ? [] : parse(readFileSync(omittedFile), { columns: true })
  for (const row of omitted) add(row, -1n)
  return nonZero([...sums].map(([key, value]) => shiftDecimal(String(value), decimals.get(key) ?? 0) ?? ''))
}

/** Sorts amounts and leaves out those of zero, and zeros at the end of each. */
const nonZero = (amounts: readonly string[]) =>
  amounts
    .map(plainDigits)
    .filter((amount) => /[1-9]/.test(amount))
    .sort()

const script = (name: string) => fileURLToPath(new URL(`importers/${name}`, import.meta.url))

describe.for(CHAINS)('of the chain %s,', (chain) => {
  const convertTo = (to: string, options = {}) =>
    convert(at(chain), { to, out: at(`${chain}-${to}`), ...options })

  test.skipIf(isMissing('bittytax (PyPI)'))('BittyTax imports every line, with equal balances', async () => {
    const { omittedFile } = await convertTo('bittytax')
    const found = runPython(script('import_bittytax.py'), at(`${chain}-bittytax`))
    expect(nonZero(found)).toEqual(await balancesOf(at(chain), omittedFile))
  })

  test.skipIf(isMissing('dali-rp2 (PyPI)'))(
    'dali and rp2 import every line, with equal balances, and the tax engine accepts what the check accepts',
    async () => {
      const { omittedFile } = await convertTo('rp2', {
        prices: await writePrices(at(chain), at(`${chain}-prices.csv`)),
      })
      const found = runPython(script('import_rp2.py'), at(`${chain}-rp2`))
      const isRejection = (line: string) => line.startsWith('rejected ')
      expect(nonZero(found.filter((line) => !isRejection(line)))).toEqual(
        await balancesOf(at(chain), omittedFile),
      )
      const oversold = new Set<string>()
      await checkFile(at(`${chain}-rp2`), 'rp2', ({ what }) =>
        oversold.add(/^more of (\S+)/.exec(what)?.[1] ?? what),
      )
      expect(found.filter(isRejection)).toEqual([...oversold].sort().map((asset) => `rejected ${asset}`))
      if (chain === 'rounding') expect(oversold).toEqual(new Set())
    },
  )
})

// `journals/` imports the journals of the recorded chain.
test.for(
  (['cases', 'demo', 'mainnet'] as const).flatMap((chain) => [
    { chain, to: 'hledger', program: 'hledger', balancesIn: hledgerBalances } as const,
    { chain, to: 'ledger', program: 'ledger', balancesIn: ledgerBalances } as const,
    { chain, to: 'beancount', program: 'bean-check (beancount)', balancesIn: beancountBalances } as const,
  ]),
)(
  '$to imports every entry of the chain $chain, with equal balances',
  async ({ chain, to, program, balancesIn }, { skip }) => {
    if (isMissing(program)) skip()
    const out = at(`${chain}-${to}`)
    const { omittedFile } = await convert(at(chain), { to, out })
    const found = balancesIn(out).map(({ amount }) => amount)
    // The NFTs of a collection are one commodity in beancount.
    const byCollection = to === 'beancount'
    expect(nonZero(found)).toEqual(await balancesOf(at(chain), omittedFile, { byCollection }))
  },
)
