// @module-tag long

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { checkFile } from '../../../src/accounting/check/check-file.ts'
import { convert } from '../../../src/accounting/convert.ts'
import { pricesNeeded } from '../../../src/accounting/needed.ts'
import { statement } from '../../../src/accounting/statement/statement.ts'
import { shiftDecimal } from '../../../src/core/platform/decimal.ts'
import { IMPORTERS_PYTHON, isMissing } from '../../helpers/programs.ts'
import type { TextRow } from '../../helpers/read-output.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { beancountBalances, hledgerBalances, ledgerBalances, plainDigits } from '../journal-balances.ts'
import { exportPerson } from './export-person.ts'

const folder = suiteFolder()
const at = (name: string) => join(folder, name)
let person: Awaited<ReturnType<typeof exportPerson>>
let prices = ''

beforeAll(async () => {
  person = await exportPerson(folder)
  prices = at('prices.csv')
  const { outputs, adjustments } = person
  const needed = await pricesNeeded(outputs, { adjustments })
  const lines = needed.map(
    ({ date, chain, asset }, row) => `${date},${chain},${asset},USD,${(row % 9) + 1}.25`,
  )
  writeFileSync(prices, ['date,chain,asset,currency,price', ...lines, ''].join('\n'))
})

async function convertTo(to: string) {
  const { outputs, adjustments } = person
  const out = at(to)
  const { omittedFile } = await convert(outputs, { to, out, adjustments, prices, excludeSpam: true })
  return { out, expected: await balancesWithout(omittedFile, { byCollection: to === 'beancount' }) }
}

/** The closing balances by wallet and symbol, which USDC has on both chains, without what a conversion omitted. */
async function balancesWithout(omittedFile: string | undefined, { byCollection = false }): Promise<string[]> {
  const { outputs, adjustments } = person
  const sums = new Map<string, bigint>()
  const decimals = new Map<string, number>()
  const add = (wallet: string, asset: string, value: bigint) =>
    sums.set(`${wallet} ${asset}`, (sums.get(`${wallet} ${asset}`) ?? 0n) + value)
  const { lines } = await statement(outputs, { year: '2024', adjustments })
  for (const { wallet_address, asset_type, asset_symbol, token_id, asset_decimals, amounts } of lines) {
    const asset = `${asset_type} ${asset_symbol} ${byCollection ? '' : (token_id ?? '')}`
    decimals.set(`${wallet_address} ${asset}`, asset_decimals ?? 0)
    add(wallet_address, asset, amounts.closing)
  }
  const omitted: TextRow[] =
    omittedFile === undefined ? [] : parse(readFileSync(omittedFile), { columns: true })
  for (const { wallet_address, asset_type, asset_symbol, token_id, value } of omitted) {
    const asset = `${asset_type} ${asset_symbol} ${byCollection ? '' : (token_id ?? '')}`
    add(wallet_address ?? '', asset, -BigInt(value ?? '0'))
  }
  return nonZero([...sums].map(([key, value]) => shiftDecimal(String(value), decimals.get(key) ?? 0) ?? ''))
}

const nonZero = (amounts: readonly string[]) =>
  amounts
    .map(plainDigits)
    .filter((amount) => /[1-9]/.test(amount))
    .sort()

function runPython(script: string, path: string): string[] {
  const file = fileURLToPath(new URL(`../importers/${script}`, import.meta.url))
  const { stdout, stderr, status } = spawnSync(IMPORTERS_PYTHON, [file, path], { encoding: 'utf8' })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter(Boolean)
}

test.skipIf(isMissing('bittytax (PyPI)'))('BittyTax imports every line, with equal balances', async () => {
  const { out, expected } = await convertTo('bittytax')
  expect(nonZero(runPython('import_bittytax.py', out))).toEqual(expected)
})

test.skipIf(isMissing('dali-rp2 (PyPI)'))(
  'dali imports every line, with equal balances, and the tax engine of rp2 rejects none',
  async () => {
    const { out, expected } = await convertTo('rp2')
    expect(nonZero(runPython('import_rp2.py', out))).toEqual(expected)
    const problems: unknown[] = []
    await checkFile(out, 'rp2', (problem) => problems.push(problem))
    expect(problems).toEqual([])
  },
)

test.for([
  { to: 'hledger', program: 'hledger', balancesIn: hledgerBalances },
  { to: 'ledger', program: 'ledger', balancesIn: ledgerBalances },
  { to: 'beancount', program: 'bean-check (beancount)', balancesIn: beancountBalances },
] as const)('$to imports every entry, with equal balances', async ({ to, program, balancesIn }, { skip }) => {
  if (isMissing(program)) skip()
  const { out, expected } = await convertTo(to)
  expect(nonZero(balancesIn(out).map(({ amount }) => amount))).toEqual(expected)
})
