import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import { IMPORTERS_PYTHON, isMissing } from '../helpers/programs.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { GOLDEN_CHAIN, WHOLE_UNITS } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'

const folder = suiteFolder()
const at = (name: string) => join(folder, name)

beforeAll(async () => {
  await exportMadeUp(at('golden'), GOLDEN_CHAIN)
  await exportMadeUp(at('large'), WHOLE_UNITS)
})

function readBy(program: string, ...files: string[]): string[] {
  const { stdout, stderr, status } = spawnSync(IMPORTERS_PYTHON, ['-c', program, ...files], {
    encoding: 'utf8',
  })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter(Boolean)
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
