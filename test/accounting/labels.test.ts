import { expect, test } from 'vitest'
import { type Preset, programTypes } from '../../src/accounting/csv/preset.ts'
import { JOURNALS, PRESETS } from '../../src/accounting/formats.ts'
import { type ImportRow, importRowOf, type LegSide } from '../../src/accounting/import-rows.ts'
import { type AccountRule, readLabels } from '../../src/accounting/labels.ts'
import type { Movement } from '../../src/accounting/movement.ts'
import { tempFile } from '../helpers/temp-folder.ts'
import { COIN, movement } from './made-up.ts'

const HASH = `0x${'1'.repeat(64)}`
const PARTY = `0x${'b'.repeat(40)}`
const payment = movement({
  asset: COIN,
  value: 1n,
  transaction: HASH,
  counterparty: PARTY,
  method: 'claim(uint256,address)',
})

function fileOf(...lines: string[]): string {
  return tempFile('labels.csv', ['match,type', ...lines, ''].join('\n'))
}

const anyText = { sides: new Map(), acceptsAnyText: true, labelsOwnTransfers: true }
const labelsOf = (...lines: string[]) => readLabels(fileOf(...lines), anyText)
const swapOf = (...movements: [Movement, ...Movement[]]): ImportRow => ({
  ...importRowOf(movements[0]),
  kind: 'swap',
  movements,
})

test('prefers a label by hash to one by counterparty, and that to one by method; all count as matched', async () => {
  const lines = ['"Claim(uint256,address)",Reward', `${PARTY},Staking`, `${HASH.toUpperCase()},Gift`]
  for (const [rank, type] of ['Reward', 'Staking', 'Gift'].entries()) {
    const { labelOf, findings } = await labelsOf(...lines.slice(0, rank + 1))
    expect(labelOf(importRowOf(payment))).toBe(type)
    expect(findings()).toEqual({ unmatched: undefined, inapplicable: [] })
  }
})

test('finds a method by its name without parameters, as descriptions show it', async () => {
  const { labelOf } = await labelsOf('claim,Reward')
  expect(labelOf(importRowOf(payment))).toBe('Reward')
})

test('matches any counterparty of a swap, before the method', async () => {
  const pool = `0x${'c'.repeat(40)}`
  const { labelOf } = await labelsOf('"claim(uint256,address)",Reward', `${pool},Trade`)
  expect(labelOf(swapOf(payment, { ...payment, counterparty: pool }))).toBe('Trade')
})

test('counts labels that match nothing, and names the first', async () => {
  const { labelOf, findings } = await labelsOf('Mint(),Reward', `${PARTY},Staking`, 'burn(),Loss')
  expect(findings().unmatched).toEqual({ count: 3, first: { line: 2, match: 'Mint()' } })
  expect(labelOf(importRowOf(payment))).toBe('Staking')
  expect(findings().unmatched).toEqual({ count: 2, first: { line: 2, match: 'Mint()' } })
})

test('assigns no label to a fee, and does not count it as a match', async () => {
  const { labelOf, findings } = await labelsOf(`${HASH},Gift`)
  expect(labelOf(importRowOf({ ...payment, type: 'fee' }))).toBeUndefined()
  expect(findings()).toEqual({ unmatched: { count: 1, first: { line: 2, match: HASH } }, inapplicable: [] })
})

test('assigns no labels and reports no findings without a file', async () => {
  const { labelOf, findings } = await readLabels(undefined, anyText)
  expect([labelOf(importRowOf(payment)), findings()]).toEqual([
    undefined,
    { unmatched: undefined, inapplicable: [] },
  ])
})

function presetOf(to: string): Preset {
  const preset = PRESETS.find(({ name }) => name === to)
  if (preset === undefined) throw new Error(to)
  return preset
}

const ROWS: Record<LegSide, ImportRow> = {
  in: importRowOf({ ...payment, isOut: false }),
  out: importRowOf(payment),
  swap: swapOf(payment, { ...payment, isOut: false }),
}

async function labelledSides(to: string, type: string): Promise<string[]> {
  const { labelOf, findings } = await readLabels(fileOf(`${HASH},${type}`), programTypes([presetOf(to)]))
  const sides = Object.entries(ROWS).flatMap(([side, row]) => (labelOf(row) === type ? [side] : []))
  const inapplicable = findings().inapplicable.map(({ count }) => count)
  expect(inapplicable).toEqual(sides.length === 3 ? [] : [3 - sides.length])
  return sides
}

test.for([
  { to: 'cryptotaxcalculator', type: 'staking', sides: ['in'] },
  { to: 'cryptotaxcalculator', type: 'lost', sides: ['out'] },
  { to: 'cryptotaxcalculator', type: 'sell', sides: ['out'] },
  { to: 'taxbit', type: 'Expense', sides: ['out'] },
  { to: 'bittytax', type: 'Income', sides: ['in'] },
  { to: 'bittytax', type: 'Gift-Sent', sides: ['out'] },
  { to: 'bittytax', type: 'Trade', sides: ['swap'] },
  { to: 'koinly', type: 'reward', sides: ['in'] },
  { to: 'koinly', type: 'cost', sides: ['out'] },
  { to: 'koinly', type: 'realized pnl', sides: ['in', 'out'] },
  { to: 'cointracking', type: 'Trade', sides: ['swap'] },
  { to: 'cointracking', type: 'Gift / Tip', sides: ['in'] },
  { to: 'cointracking', type: 'Gift', sides: ['out'] },
  { to: 'cointracker', type: 'airdrop', sides: ['in'] },
  { to: 'cointracker', type: 'donation', sides: ['out'] },
  { to: 'cointracker', type: 'stake', sides: ['out', 'swap'] },
  { to: 'tokentax', type: 'Gift', sides: ['out'] },
  { to: 'coinledger', type: 'Mining', sides: ['in'] },
  { to: 'zenledger', type: 'Payment', sides: ['in'] },
  { to: 'blockpit', type: 'Bounties', sides: ['in'] },
  { to: 'coinpanda', type: 'Repay Loan', sides: ['out'] },
  { to: 'kryptos', type: 'transfer', sides: ['in', 'out'] },
  { to: 'generic', type: 'my own', sides: ['in', 'out', 'swap'] },
  { to: 'generic', type: 'in', sides: ['in'] },
])('assigns $type of $to only to rows with these amounts: $sides', async ({ to, type, sides }) => {
  expect(await labelledSides(to, type)).toEqual(sides)
})

test('reports a label that fits none of its rows, with the amounts it needs and the first transaction', async () => {
  const { labelOf, findings } = await readLabels(
    fileOf(`${PARTY},Income`),
    programTypes([presetOf('bittytax')]),
  )
  expect([labelOf(ROWS.out), labelOf(ROWS.out)]).toEqual([undefined, undefined])
  expect(findings()).toEqual({
    unmatched: undefined,
    inapplicable: [
      { line: 2, type: 'Income', needs: 'a received amount and no sent amount', count: 2, first: HASH },
    ],
  })
})

test('falls back to the label of the method if that of the counterparty does not fit', async () => {
  const file = fileOf(`${PARTY},Income`, '"claim(uint256,address)",Lost')
  const { labelOf, findings } = await readLabels(file, programTypes([presetOf('bittytax')]))
  expect([labelOf(ROWS.out), labelOf(ROWS.in)]).toEqual(['Lost', 'Income'])
  expect(findings().inapplicable).toEqual([])
})

test('accepts one type for received and one for sent amounts of a counterparty', async () => {
  const file = fileOf(`${PARTY},Unstake`, `${PARTY},Stake`)
  const { labelOf, findings } = await readLabels(file, programTypes([presetOf('bittytax')]))
  expect([labelOf(ROWS.in), labelOf(ROWS.out)]).toEqual(['Unstake', 'Stake'])
  expect(findings()).toEqual({ unmatched: undefined, inapplicable: [] })
})

test('rejects two types that could apply to the same row', async () => {
  const file = fileOf(`${PARTY},Income`, `${PARTY.toUpperCase()},Airdrop`)
  await expect(readLabels(file, programTypes([presetOf('bittytax')]))).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(
      `${file}:3: found type Airdrop for ${PARTY.toUpperCase()}, which has Income`,
    ),
  })
})

test('assigns no CoinTracker tag to a transfer between own wallets', async () => {
  const { labelOf, findings } = await readLabels(
    fileOf(`${HASH},airdrop`),
    programTypes([presetOf('cointracker')]),
  )
  expect(labelOf({ ...ROWS.in, isOwn: true })).toBeUndefined()
  expect(findings().inapplicable[0]?.needs).toBe(
    'a received amount and no sent amount, not between own wallets',
  )
})

function ruleOf(journal: string): AccountRule {
  const format = JOURNALS.find(({ name }) => name === journal)
  if (format === undefined) throw new Error(journal)
  return format.accountRule
}

test.for([
  ...['rent', 'expenses:my rent', 'Ausgaben:Gebühren (Krypto)', '4000:rent', '🏠:rent'].flatMap((account) => [
    { journal: 'hledger', account },
    { journal: 'ledger', account },
  ]),
  ...['Expenses:Rent', 'Income:9-a:B', 'Expenses:Ämter'].map((account) => ({
    journal: 'beancount',
    account,
  })),
])('accepts the account $account for $journal', async ({ journal, account }) => {
  const { labelOf } = await readLabels(fileOf(`${HASH},"${account}"`), ruleOf(journal))
  expect(labelOf(importRowOf(payment))).toBe(account)
})

const REJECTED = {
  hledger: [
    'a  b',
    'a\tb',
    'a;b',
    ' a',
    'a ',
    'a\nb',
    'a\u00a0b',
    'a\u0007',
    'a\u200bb',
    ':a',
    'a:',
    'a::b',
    'a: b',
    '(a:b)',
    '[a:b]',
    '<a:b>',
    '! a',
    '*a',
  ],
  beancount: [
    'Expenses',
    'expenses:rent',
    'Expenses:rent',
    'Expenses:A b',
    'Expenses:A_b',
    'Expenses:-A',
    'Expenses:A:',
    'Ausgaben:Rent',
    'Expenses:A;b',
    'Expenses:家賃',
    'Expenses:A\n',
    'Expenses:éa',
  ],
}

test.for(
  [
    ...REJECTED.hledger.flatMap((account) => [
      { journal: 'hledger', account },
      { journal: 'ledger', account },
    ]),
    ...REJECTED.beancount.map((account) => ({ journal: 'beancount', account })),
  ].map((one) => ({ ...one, quoted: JSON.stringify(one.account) })),
)('rejects the account $quoted for $journal with its line', async ({ journal, account, quoted }) => {
  const file = fileOf(`${HASH},"${account}"`)
  const line = account.includes('\n') ? 3 : 2
  await expect(readLabels(file, ruleOf(journal))).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`${file}:${line}: found account ${quoted}, expected an account such as`),
  })
})
