import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import { statement } from '../../src/accounting/statement/statement.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { parseCsv } from '../../src/read/csv-records.ts'
import { runCommand } from '../helpers/command.ts'
import { suiteFolder, tempFile, tempFolder } from '../helpers/temp-folder.ts'
import { GOLDEN_CHAIN } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'
import { ANN, BEN } from './made-up-transactions.ts'

const USDC = `0x${'c'.repeat(40)}`
const HEADER = 'time,chain,wallet_address,asset_type,asset_address,token_id,amount,type,note'
const output = join(suiteFolder(), 'out')

beforeAll(() => exportMadeUp(output, [...GOLDEN_CHAIN]))

function adjustmentsOf(lines: readonly string[], header = HEADER): string {
  return tempFile('adjustments.csv', [header, ...lines, ''].join('\n'))
}

const REBASE = `2024-03-02,made,${ANN},erc20,${USDC},,1.5,rebase,"Aave, first quarter"`
const LOSS = `2024-12-31T23:00:00Z,,${BEN},native,,,-0.25,loss,lost keys`

const balanceOf = async (wallet: string, address: string | null, options = {}) =>
  (await balances(output, options)).balances.find(
    (balance) => balance.wallet_address === wallet && balance.asset_address === address,
  )?.value ?? 0n

test('adjustments are part of the balances from their time on', async () => {
  const adjustments = adjustmentsOf([REBASE, LOSS])
  for (const [at, change] of [
    ['2024-03-01', 0n],
    ['2024-03-02', 1_500_000n],
    [undefined, 1_500_000n],
  ] as const)
    expect(await balanceOf(ANN, USDC, { at, adjustments })).toBe(
      (await balanceOf(ANN, USDC, { at })) + change,
    )
  expect(await balanceOf(BEN, null, { adjustments })).toBe((await balanceOf(BEN, null)) - 25n * 10n ** 16n)
})

test('a statement with adjustments adds up to the balances, and marks them by entry type', async () => {
  const adjustments = adjustmentsOf([REBASE, LOSS])
  const stated = await statement([output], { year: '2024', adjustments })
  const line = stated.lines.find((one) => one.wallet_address === ANN && one.asset_address === USDC)
  expect(line?.amounts.closing).toBe(await balanceOf(ANN, USDC, { at: '2024-12-31', adjustments }))
  expect(line?.entries).toContainEqual({ type: 'declared_income', movements: 1, in: 1_500_000n, out: 0n })
  expect(line?.amounts.income).toBe(1_500_000n)
  const coin = stated.lines.find((one) => one.wallet_address === BEN && one.asset_address === null)
  expect(coin?.entries).toContainEqual({ type: 'declared', movements: 1, in: 0n, out: 25n * 10n ** 16n })
  expect(stated.exports[0]?.adjustments).toEqual({ rows: 2, unfilled: 0, ofOtherChains: 0 })
})

test('a conversion has a line per adjustment, marked as declared', async () => {
  const adjustments = adjustmentsOf([REBASE, LOSS])
  const convertWith = async (options: { adjustments?: string }) => {
    const parts: string[] = []
    const write = (part: string) => void parts.push(part)
    const result = await convert(output, { to: 'generic', write, ...options })
    return { ...result, rows: parseCsv(parts.join('')) }
  }
  const plain = await convertWith({})
  const adjusted = await convertWith({ adjustments })
  expect(adjusted.movements).toBe(plain.movements + 2)
  const declared = adjusted.rows.filter((row) => row.some((cell) => cell.includes('declared')))
  expect(declared).toHaveLength(2)
  expect(declared[0]?.join()).toContain('declared rebase: Aave, first quarter')
  expect(declared[0]?.join()).toContain('2024-03-02')
  expect(declared[1]?.join()).toContain('0.25')
  const others = adjusted.rows.filter((row) => !declared.includes(row))
  expect(others).toEqual(plain.rows)
})

test.for([
  [`2024-13-02,,${ANN},native,,,1,income,`, 'found time 2024-13-02, expected 2024-03-31 or'],
  [`2024-03-02,,${ANN},native,,,1,gift,`, 'found type gift, expected income, rebase, staking'],
  [`2024-03-02,,${USDC},native,,,1,income,`, 'expected the address of a wallet of the export'],
  [`2024-03-02,,${ANN},erc20,${USDC},,0.1234567,income,`, "no more than the asset's 6 decimals"],
])('the line %s is refused', async ([line = '', message]) => {
  const adjustments = adjustmentsOf([REBASE, line])
  await expect(balances(output, { adjustments })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`${adjustments}:3: `),
  })
  await expect(balances(output, { adjustments })).rejects.toThrow(message)
})

test('lines without an amount and of other chains are counted, not applied', async () => {
  const adjustments = adjustmentsOf([REBASE.replace('1.5', ''), `2024-03-02,43114,${ANN},native,,,1,income,`])
  const { adjustments: counts } = await balances(output, { adjustments })
  expect(counts).toEqual({ rows: 0, unfilled: 1, ofOtherChains: 1 })
})

test('the commands say how many adjustments count', async () => {
  const file = adjustmentsOf([REBASE, LOSS])
  const listed = await runCommand(['balances', output, '--adjustments', file, '--format', 'csv'])
  expect(listed).toMatchObject({ exit: 0 })
  expect(listed.stderr).toContain(`2 adjustments of ${file} counted, as declared by you`)
  const out = join(tempFolder(), 'report.html')
  expect(await runCommand(['report', output, '--adjustments', file, '--out', out])).toMatchObject({ exit: 0 })
  expect(readFileSync(out, 'utf8').length).toBeGreaterThan(1_000)
})
