import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { statement } from '../../../src/accounting/statement/statement.ts'
import { shiftDecimal } from '../../../src/core/platform/decimal.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { exportPerson } from './export-person.ts'
import { ON_AVALANCHE, ON_ETHEREUM } from './world.ts'

const folder = suiteFolder()
let person: Awaited<ReturnType<typeof exportPerson>>
const BOOKINGS = [...ON_ETHEREUM, ...ON_AVALANCHE]

type Row = Readonly<Record<string, string>>
const rowsOf = new Map<string, string[]>()

beforeAll(async () => {
  person = await exportPerson(folder)
  const out = join(folder, 'person.csv')
  await convert(person.outputs, { to: 'generic', out, excludeSpam: true, adjustments: person.adjustments })
  const records: Row[] = parse(readFileSync(out), { columns: true })
  for (const row of records) {
    const hash = row.transaction_hash ?? ''
    rowsOf.set(`${row.chain} ${hash}`, [...(rowsOf.get(`${row.chain} ${hash}`) ?? []), textOf(row)])
  }
})

const textOf = ({ type, received_amount, received_asset, sent_amount, sent_asset }: Row) =>
  [
    type,
    received_amount && `+${received_amount} ${received_asset}`,
    sent_amount && `-${sent_amount} ${sent_asset}`,
  ]
    .filter(Boolean)
    .join(' ')

const keyOf = ({ transaction }: (typeof BOOKINGS)[number]) => {
  const { chainId, txHash } = transaction.nativeTransaction as Record<string, string>
  return `${chainId} ${txHash}`
}

/** A ticker without the digits of its contract. */
const plain = (text: string) => text.replace(/-[0-9a-f]{8}(?!#)\b/g, '')

test.for(BOOKINGS.map((booking) => [booking.what, booking.why, booking] as const))(
  '%s: %s',
  ([, , booking]) => {
    const rows = (rowsOf.get(keyOf(booking)) ?? []).map(plain)
    expect(rows.sort()).toEqual([...booking.rows].sort())
  },
)

test('what was declared is income, and no balance is below zero', async () => {
  const { lines, exports } = await statement(person.outputs, { adjustments: person.adjustments })
  expect(exports.flatMap(({ belowZero }) => belowZero)).toEqual([])
  const income = lines.flatMap(({ asset_symbol, amounts, asset_decimals }) =>
    amounts.income === 0n ? [] : [`${asset_symbol} ${shiftDecimal(String(amounts.income), asset_decimals)}`],
  )
  expect(income.sort()).toEqual(['ENS 50', 'aAvaUSDC 3', 'stETH 0.03'])
})

test('own transfers cancel each other out, and the flows lead to the closing balances', async () => {
  const { lines } = await statement(person.outputs, { adjustments: person.adjustments })
  const sums = new Map<string, bigint>()
  for (const { chain_id, asset_address, amounts } of lines) {
    const key = `${chain_id} ${asset_address}`
    sums.set(key, (sums.get(key) ?? 0n) + amounts.own_in - amounts.own_out)
  }
  expect([...sums.values()].every((sum) => sum === 0n)).toBe(true)
  const usdc = lines
    .filter(({ asset_symbol }) => asset_symbol === 'USDC')
    .map(({ amounts }) => amounts.closing)
  // 3,000 − 800 + 12 − 500 on Ethereum; 499 + 3 of interest on Avalanche, of which Ben has 100, and 30 that a swap paid to him.
  expect(usdc.sort()).toEqual([130_000_000n, 1_712_000_000n, 402_000_000n].sort())
})
