import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fitsWay } from '../../src/convert/csv/types.ts'
import { JOURNALS } from '../../src/convert/journals/index.ts'
import { readLabels } from '../../src/convert/labels.ts'
import { lineOf } from '../../src/convert/lines.ts'
import { PRESETS } from '../../src/convert/presets/index.ts'
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

const labelsOf = (...lines: string[]) => readLabels(fileOf(...lines))

test('the hash counts before the other party, and that before the method; all of them matched', async () => {
  const lines = ['"Claim(uint256,address)",Reward', `${PARTY},Staking`, `${HASH.toUpperCase()},Gift`]
  for (const [rank, type] of ['Reward', 'Staking', 'Gift'].entries()) {
    const { labelOf, unmatched } = await labelsOf(...lines.slice(0, rank + 1))
    expect(labelOf([paid])).toBe(type)
    expect(unmatched()).toBeUndefined()
  }
})

test('of a swap any other party counts, before the method', async () => {
  const pool = `0x${'c'.repeat(40)}`
  const { labelOf } = await labelsOf('"claim(uint256,address)",Reward', `${pool},Trade`)
  expect(labelOf([paid, { ...paid, counterparty: pool }])).toBe('Trade')
})

test('lines that match nothing are counted, and the first is named', async () => {
  const { labelOf, unmatched } = await labelsOf('Mint(),Reward', `${PARTY},Staking`, 'burn(),Loss')
  expect(unmatched()).toEqual({ count: 3, first: { line: 2, match: 'Mint()' } })
  expect(labelOf([paid])).toBe('Staking')
  expect(unmatched()).toEqual({ count: 2, first: { line: 2, match: 'Mint()' } })
})

test('a fee keeps its own type, and matches nothing', async () => {
  const { labelOf, unmatched } = await labelsOf(`${HASH},Gift`)
  expect(labelOf([{ ...paid, type: 'fee' }])).toBeUndefined()
  expect(unmatched()).toEqual({ count: 1, first: { line: 2, match: HASH } })
})

test('without a file nothing has a label, and no line matched nothing', async () => {
  const { labelOf, unmatched } = await readLabels(undefined)
  expect([labelOf([paid]), unmatched()]).toEqual([undefined, undefined])
})

test.for([
  { to: 'rotki', type: 'Income', ways: ['in'] },
  { to: 'rotki', type: 'Spend', ways: ['out'] },
  { to: 'rotki', type: 'Deposit', ways: ['in'] },
  { to: 'cryptotaxcalculator', type: 'staking', ways: ['in'] },
  { to: 'cryptotaxcalculator', type: 'lost', ways: ['out'] },
  { to: 'taxbit', type: 'Expense', ways: ['out'] },
  { to: 'cointracking', type: 'Trade', ways: [] },
  { to: 'cointracking', type: 'Gift', ways: ['in', 'out'] },
  { to: 'generic', type: 'my own', ways: ['in', 'out'] },
])('$type of $to is only given to what went $ways', ({ to, type, ways }) => {
  const preset = PRESETS.find(({ name }) => name === to)
  if (preset === undefined) throw new Error(to)
  const line = (isOut: boolean) => lineOf({ ...paid, isOut }, type)
  const fitting = [line(false), line(true)].filter((one) => fitsWay(type, one, preset))
  expect(fitting.map(({ kind }) => kind)).toEqual(ways)
})

const ruleOf = (journal: string) => JOURNALS.find(({ name }) => name === journal)?.accountRule

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
  expect(labelOf([paid])).toBe(account)
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
