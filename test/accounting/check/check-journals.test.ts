import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { JOURNALS } from '../../../src/accounting/journals/index.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { mistakeFinder } from './mistakes.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const mistakesIn = mistakeFinder()

beforeAll(() => exportDemo(output, { endBlock: 20 }))

type Posting = { account: string; amount: string; commodity: string }

/** Writes the first posting of a journal otherwise. */
function repost(text: string, change: (posting: Posting) => string): string {
  return text.replace(
    /\n(\s+)([A-Za-z][^\n]*?) {2}(-?\d[\d.]*) ("[^"\n]+"|[A-Z][\w.'-]*)/,
    (_, indent, account, amount, commodity) => `\n${indent}${change({ account, amount, commodity })}`,
  )
}

const amountAs =
  (change: (amount: string) => string) =>
  (text: string): string =>
    repost(text, ({ account, amount, commodity }) => `${account}  ${change(amount)} ${commodity}`)

/** What people do to journals. */
const SPOILS: { what: string; spoil: (text: string) => string }[] = [
  {
    what: 'a wei too much',
    spoil: (text) =>
      text.replace(
        /(\n\s+expenses:gas {2}0\.\d+?|\n\s+Expenses:Gas {2}0\.\d+?)(\d) /i,
        (_, head, last) => `${head}${(Number(last) + 1) % 10} `,
      ),
  },
  { what: 'a posting less', spoil: (text) => text.replace(/\n\s+expenses:gas .*\n/i, '\n') },
  {
    what: 'an account not declared',
    spoil: (text) => text.replace(/^(account|\d{4}-\d\d-\d\d open) expenses:gas\n/im, ''),
  },
  {
    what: 'a commodity not declared',
    spoil: (text) =>
      text.replace(/^(commodity [\d.]* ?"AVAX"|1970-01-01 commodity AVAX)\n( {2}decimals.*\n)?/m, ''),
  },
  { what: 'a day that there is not', spoil: (text) => text.replaceAll('2023-11-14', '2023-11-31') },
  { what: 'an exponent', spoil: (text) => text.replace(/ {2}0\.\d+ /, '  1.5e-2 ') },
  { what: 'a comma for the point', spoil: (text) => text.replace(/ {2}0\.(\d+) /, '  0,$1 ') },
  { what: 'no amount', spoil: (text) => text.replace(/ {2}0\.\d+ ("?AVAX"?)/, '') },
  { what: 'one blank before the amount', spoil: (text) => text.replace(/(expenses:gas) {2}/i, '$1 ') },
  { what: 'thousands apart', spoil: amountAs((amount) => `1,000${amount}`) },
  { what: 'a hexadecimal amount', spoil: amountAs(() => '0xff') },
  { what: 'no number', spoil: amountAs(() => 'NaN') },
  { what: 'two points', spoil: amountAs((amount) => `1.0${amount.replace('-', '')}.5`) },
  { what: 'a plus before the amount', spoil: amountAs((amount) => `+${amount.replace('-', '')}`) },
  { what: 'a minus after the amount', spoil: amountAs((amount) => `${amount.replace('-', '')}-`) },
  { what: 'a minus that was lost', spoil: (text) => text.replace(/ {2}-(\d)/, '  $1') },
  { what: 'decimals cut off', spoil: amountAs((amount) => amount.replace(/(\.\d)\d+/, '$1')) },
  {
    what: 'an amount without its asset',
    spoil: (text) => repost(text, ({ account, amount }) => `${account}  ${amount}`),
  },
  {
    what: 'the asset before its amount',
    spoil: (text) => repost(text, ({ account, amount, commodity }) => `${account}  ${commodity} ${amount}`),
  },
  {
    what: 'another asset',
    spoil: (text) => repost(text, ({ account, amount }) => `${account}  ${amount} AVAXX`),
  },
  {
    what: 'another account',
    spoil: (text) => repost(text, ({ amount, commodity }) => `Expenses:Gaz  ${amount} ${commodity}`),
  },
  { what: 'a posting at the margin', spoil: (text) => text.replace(/\n\s+(expenses:gas {2})/i, '\n$1') },
  { what: 'a date with slashes', spoil: (text) => text.replace(/\n2023-11-14 ([(*])/, '\n14/11/2023 $1') },
  { what: 'a date with points', spoil: (text) => text.replace(/\n2023-11-14 ([(*])/, '\n14.11.2023 $1') },
  { what: 'a thirteenth month', spoil: (text) => text.replace(/\n2023-11-14 ([(*])/, '\n2023-13-14 $1') },
  {
    what: 'a day before the one above',
    spoil: (text) => text.replace(/(\n2023-11-14 [(*][\s\S]*\n)2023-11-14( [(*])/, '$12023-11-13$2'),
  },
  {
    what: 'a quote that is not closed',
    spoil: (text) => repost(text, ({ account, amount }) => `${account}  ${amount} "AVAX`),
  },
  { what: 'a mark of two versions', spoil: (text) => `<<<<<<< mine\n${text}` },
  { what: 'a price without its currency', spoil: (text) => `P 2023-11-14 AVAX 18.5\n${text}` },
  { what: 'a line of something else', spoil: (text) => text.concat('total 5\n') },
]

describe.for(JOURNALS)('convert --check --to $name', ({ name }) => {
  test('is tried with thirty mistakes', () => {
    expect(SPOILS).toHaveLength(30)
  })

  test('takes the journal of a year without movements, which is empty', async () => {
    const out = join(folder, `${name}-1999`)
    await convert(output, { to: name, out, from: '1999-01-01', until: '1999-12-31' })
    expect(await mistakesIn(readFileSync(out, 'utf8'), name)).toEqual([])
  })

  test.for(SPOILS)('finds $what', async ({ spoil }) => {
    const out = join(folder, name)
    await convert(output, { to: name, out })
    const text = readFileSync(out, 'utf8')
    const bad = spoil(text)
    expect(bad).not.toBe(text)
    expect(await mistakesIn(text, name)).toEqual([])
    expect((await mistakesIn(bad, name)).length).toBeGreaterThan(0)
  })
})
