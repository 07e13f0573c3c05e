import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Preset } from '../../src/accounting/csv/preset.ts'
import { programTypes } from '../../src/accounting/csv/types.ts'
import { type ImportRow, importRowOf, type LegSide } from '../../src/accounting/import-rows.ts'
import { JOURNALS } from '../../src/accounting/journals/index.ts'
import { type AccountRule, readLabels } from '../../src/accounting/labels.ts'
import type { Movement } from '../../src/accounting/movement.ts'
import { PRESETS } from '../../src/accounting/presets/index.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { COIN, movement } from './made-up.ts'

const HASH = `0x${'1'.repeat(64)}`
const PARTY = `0x${'b'.repeat(40)}`
const paid = movement({
  ...{ asset: COIN, value: 1n, transaction: HASH, counterparty: PARTY, method: 'claim(uint256,address)' },
})

function fileOf(...lines: string[]): string {
  const file = join(tempFolder(), 'labels.csv')
  writeFileSync(file, ['match,type', ...lines, ''].join('\n'))
  return file
}

const anyText = { sides: new Map(), acceptsAnyText: true, labelsOwnTransfers: true }
const labelsOf = (...lines: string[]) => readLabels(fileOf(...lines), anyText)
const swapOf = (...movements: [Movement, ...Movement[]]): ImportRow => ({
  ...importRowOf(movements[0]),
  kind: 'swap',
  movements,
})

test('the hash counts before the other party, and that before the method; all of them matched', async () => {
  const lines = ['"Claim(uint256,address)",Reward', `${PARTY},Staking`, `${HASH.toUpperCase()},Gift`]
  for (const [rank, type] of ['Reward', 'Staking', 'Gift'].entries()) {
    const { labelOf, findings } = await labelsOf(...lines.slice(0, rank + 1))
    expect(labelOf(importRowOf(paid))).toBe(type)
    expect(findings()).toEqual({ unmatched: undefined, inapplicable: [] })
  }
})

test('of a swap any other party counts, before the method', async () => {
  const pool = `0x${'c'.repeat(40)}`
  const { labelOf } = await labelsOf('"claim(uint256,address)",Reward', `${pool},Trade`)
  expect(labelOf(swapOf(paid, { ...paid, counterparty: pool }))).toBe('Trade')
})

test('lines that match nothing are counted, and the first is named', async () => {
  const { labelOf, findings } = await labelsOf('Mint(),Reward', `${PARTY},Staking`, 'burn(),Loss')
  expect(findings().unmatched).toEqual({ count: 3, first: { line: 2, match: 'Mint()' } })
  expect(labelOf(importRowOf(paid))).toBe('Staking')
  expect(findings().unmatched).toEqual({ count: 2, first: { line: 2, match: 'Mint()' } })
})

test('a fee keeps its own type, and matches nothing', async () => {
  const { labelOf, findings } = await labelsOf(`${HASH},Gift`)
  expect(labelOf(importRowOf({ ...paid, type: 'fee' }))).toBeUndefined()
  expect(findings()).toEqual({ unmatched: { count: 1, first: { line: 2, match: HASH } }, inapplicable: [] })
})

test('without a file nothing has a label, and no line matched nothing', async () => {
  const { labelOf, findings } = await readLabels(undefined, anyText)
  expect([labelOf(importRowOf(paid)), findings()]).toEqual([
    undefined,
    { unmatched: undefined, inapplicable: [] },
  ])
})

function presetOf(to: string): Preset {
  const preset = PRESETS.find(({ name }) => name === to)
  if (preset === undefined) throw new Error(to)
  return preset
}

const LINES: Record<LegSide, ImportRow> = {
  in: importRowOf({ ...paid, isOut: false }),
  out: importRowOf(paid),
  swap: swapOf(paid, { ...paid, isOut: false }),
}

async function legsGiven(to: string, type: string): Promise<string[]> {
  const { labelOf, findings } = await readLabels(fileOf(`${HASH},${type}`), programTypes([presetOf(to)]))
  const given = Object.entries(LINES).flatMap(([leg, line]) => (labelOf(line) === type ? [leg] : []))
  const refused = findings().inapplicable.map(({ count }) => count)
  expect(refused).toEqual(given.length === 3 ? [] : [3 - given.length])
  return given
}

test.for([
  { to: 'rotki', type: 'Income', legs: ['in'] },
  { to: 'rotki', type: 'Spend', legs: ['out'] },
  { to: 'cryptotaxcalculator', type: 'staking', legs: ['in'] },
  { to: 'cryptotaxcalculator', type: 'lost', legs: ['out'] },
  { to: 'cryptotaxcalculator', type: 'sell', legs: ['out', 'swap'] },
  { to: 'taxbit', type: 'Expense', legs: ['out'] },
  { to: 'bittytax', type: 'Income', legs: ['in'] },
  { to: 'bittytax', type: 'Gift-Sent', legs: ['out'] },
  { to: 'bittytax', type: 'Trade', legs: ['swap'] },
  { to: 'koinly', type: 'reward', legs: ['in'] },
  { to: 'koinly', type: 'cost', legs: ['out'] },
  { to: 'koinly', type: 'realized pnl', legs: ['in', 'out'] },
  { to: 'cointracking', type: 'Trade', legs: ['swap'] },
  { to: 'cointracking', type: 'Gift / Tip', legs: ['in'] },
  { to: 'cointracking', type: 'Gift', legs: ['out'] },
  { to: 'cointracker', type: 'airdrop', legs: ['in'] },
  { to: 'cointracker', type: 'donation', legs: ['out'] },
  { to: 'cointracker', type: 'stake', legs: ['out', 'swap'] },
  { to: 'tokentax', type: 'Gift', legs: ['out'] },
  { to: 'coinledger', type: 'Mining', legs: ['in'] },
  { to: 'zenledger', type: 'Payment', legs: ['in'] },
  { to: 'blockpit', type: 'Bounties', legs: ['in'] },
  { to: 'coinpanda', type: 'Repay Loan', legs: ['out'] },
  { to: 'kryptos', type: 'transfer', legs: ['in', 'out'] },
  { to: 'generic', type: 'my own', legs: ['in', 'out', 'swap'] },
  { to: 'generic', type: 'in', legs: ['in'] },
])('$type of $to is only given to lines with these amounts: $legs', async ({ to, type, legs }) => {
  expect(await legsGiven(to, type)).toEqual(legs)
})

test('a label that fits no line that it matched is named with what it needs and the first transaction', async () => {
  const { labelOf, findings } = await readLabels(
    fileOf(`${PARTY},Income`),
    programTypes([presetOf('bittytax')]),
  )
  expect([labelOf(LINES.out), labelOf(LINES.out)]).toEqual([undefined, undefined])
  expect(findings()).toEqual({
    unmatched: undefined,
    inapplicable: [{ line: 2, type: 'Income', needs: 'a received amount alone', count: 2, first: HASH }],
  })
})

test('where the label of the other party does not fit, that of the method counts', async () => {
  const file = fileOf(`${PARTY},Income`, '"claim(uint256,address)",Lost')
  const { labelOf, findings } = await readLabels(file, programTypes([presetOf('bittytax')]))
  expect([labelOf(LINES.out), labelOf(LINES.in)]).toEqual(['Lost', 'Income'])
  expect(findings().inapplicable).toEqual([])
})

test('a counterparty may have one type for what comes in and one for what goes out', async () => {
  const file = fileOf(`${PARTY},Unstake`, `${PARTY},Stake`)
  const { labelOf, findings } = await readLabels(file, programTypes([presetOf('bittytax')]))
  expect([labelOf(LINES.in), labelOf(LINES.out)]).toEqual(['Unstake', 'Stake'])
  expect(findings()).toEqual({ unmatched: undefined, inapplicable: [] })
})

test('two types that one line could both have are refused', async () => {
  const file = fileOf(`${PARTY},Income`, `${PARTY.toUpperCase()},Airdrop`)
  await expect(readLabels(file, programTypes([presetOf('bittytax')]))).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(
      `${file}:3: found type Airdrop for ${PARTY.toUpperCase()}, which has Income`,
    ),
  })
})

test('CoinTracker gets no tag on a transfer between own wallets', async () => {
  const { labelOf, findings } = await readLabels(
    fileOf(`${HASH},airdrop`),
    programTypes([presetOf('cointracker')]),
  )
  expect(labelOf({ ...LINES.in, isOwn: true })).toBeUndefined()
  expect(findings().inapplicable[0]?.needs).toBe('a received amount alone, not between own wallets')
})

function ruleOf(journal: string): AccountRule {
  const form = JOURNALS.find(({ name }) => name === journal)
  if (form === undefined) throw new Error(journal)
  return form.accountRule
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
])('$journal takes the account $account', async ({ journal, account }) => {
  const { labelOf } = await readLabels(fileOf(`${HASH},"${account}"`), ruleOf(journal))
  expect(labelOf(importRowOf(paid))).toBe(account)
})

const REFUSED = {
  hledger: [
    ...[
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
    ],
    ...['(a:b)', '[a:b]', '<a:b>', '! a', '*a'],
  ],
  beancount: [
    ...[
      'Expenses',
      'expenses:rent',
      'Expenses:rent',
      'Expenses:A b',
      'Expenses:A_b',
      'Expenses:-A',
      'Expenses:A:',
    ],
    ...['Ausgaben:Rent', 'Expenses:A;b', 'Expenses:家賃', 'Expenses:A\n', 'Expenses:éa'],
  ],
}

test.for(
  [
    ...REFUSED.hledger.flatMap((account) => [
      { journal: 'hledger', account },
      { journal: 'ledger', account },
    ]),
    ...REFUSED.beancount.map((account) => ({ journal: 'beancount', account })),
  ].map((one) => ({ ...one, shown: JSON.stringify(one.account) })),
)('$journal refuses the account $shown with its line', async ({ journal, account, shown }) => {
  const file = fileOf(`${HASH},"${account}"`)
  const line = account.includes('\n') ? 3 : 2
  await expect(readLabels(file, ruleOf(journal))).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`${file}:${line}: found account ${shown}, expected an account such as`),
  })
})
