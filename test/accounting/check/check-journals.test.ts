import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { JOURNALS } from '../../../src/accounting/formats.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { mistakeFinder } from './mistakes.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const mistakesIn = mistakeFinder()

beforeAll(() => exportDemo(output, { endBlock: 20 }))

type Posting = { account: string; amount: string; commodity: string }

/** Replaces the first posting of a journal. */
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

/** Mistakes that people make in journals. */
const MUTATIONS: { what: string; mutate: (text: string) => string }[] = [
  {
    what: 'an amount that is one unit off',
    mutate: (text) =>
      text.replace(
        /(\n\s+expenses:gas {2}0\.\d+?|\n\s+Expenses:Gas {2}0\.\d+?)(\d) /i,
        (_, head, last) => `${head}${(Number(last) + 1) % 10} `,
      ),
  },
  { what: 'a missing posting', mutate: (text) => text.replace(/\n\s+expenses:gas .*\n/i, '\n') },
  {
    what: 'an undeclared account',
    mutate: (text) => text.replace(/^(account|\d{4}-\d\d-\d\d open) expenses:gas\n/im, ''),
  },
  {
    what: 'an undeclared commodity',
    mutate: (text) =>
      text.replace(/^(commodity [\d.]* ?"AVAX"|1970-01-01 commodity AVAX)\n( {2}decimals.*\n)?/m, ''),
  },
  { what: 'a date that does not exist', mutate: (text) => text.replaceAll('2023-11-14', '2023-11-31') },
  { what: 'an exponent', mutate: (text) => text.replace(/ {2}0\.\d+ /, '  1.5e-2 ') },
  { what: 'a decimal comma', mutate: (text) => text.replace(/ {2}0\.(\d+) /, '  0,$1 ') },
  { what: 'no amount', mutate: (text) => text.replace(/ {2}0\.\d+ ("?AVAX"?)/, '') },
  { what: 'a single space before the amount', mutate: (text) => text.replace(/(expenses:gas) {2}/i, '$1 ') },
  { what: 'a thousands separator', mutate: amountAs((amount) => `1,000${amount}`) },
  { what: 'a hexadecimal amount', mutate: amountAs(() => '0xff') },
  { what: 'an amount that is not a number', mutate: amountAs(() => 'NaN') },
  { what: 'two decimal points', mutate: amountAs((amount) => `1.0${amount.replace('-', '')}.5`) },
  { what: 'a plus sign before the amount', mutate: amountAs((amount) => `+${amount.replace('-', '')}`) },
  { what: 'a minus sign after the amount', mutate: amountAs((amount) => `${amount.replace('-', '')}-`) },
  { what: 'a missing minus sign', mutate: (text) => text.replace(/ {2}-(\d)/, '  $1') },
  { what: 'truncated decimals', mutate: amountAs((amount) => amount.replace(/(\.\d)\d+/, '$1')) },
  {
    what: 'an amount without a commodity',
    mutate: (text) => repost(text, ({ account, amount }) => `${account}  ${amount}`),
  },
  {
    what: 'the commodity before its amount',
    mutate: (text) => repost(text, ({ account, amount, commodity }) => `${account}  ${commodity} ${amount}`),
  },
  {
    what: 'another commodity',
    mutate: (text) => repost(text, ({ account, amount }) => `${account}  ${amount} AVAXX`),
  },
  {
    what: 'another account',
    mutate: (text) => repost(text, ({ amount, commodity }) => `Expenses:Gaz  ${amount} ${commodity}`),
  },
  {
    what: 'a posting without indentation',
    mutate: (text) => text.replace(/\n\s+(expenses:gas {2})/i, '\n$1'),
  },
  { what: 'a date with slashes', mutate: (text) => text.replace(/\n2023-11-14 ([(*])/, '\n14/11/2023 $1') },
  { what: 'a date with dots', mutate: (text) => text.replace(/\n2023-11-14 ([(*])/, '\n14.11.2023 $1') },
  { what: 'a thirteenth month', mutate: (text) => text.replace(/\n2023-11-14 ([(*])/, '\n2023-13-14 $1') },
  {
    what: 'a date before that of the entry above',
    mutate: (text) => text.replace(/(\n2023-11-14 [(*][\s\S]*\n)2023-11-14( [(*])/, '$12023-11-13$2'),
  },
  {
    what: 'an unclosed quote',
    mutate: (text) => repost(text, ({ account, amount }) => `${account}  ${amount} "AVAX`),
  },
  { what: 'a merge conflict marker', mutate: (text) => `<<<<<<< mine\n${text}` },
  { what: 'a price without a currency', mutate: (text) => `P 2023-11-14 AVAX 18.5\n${text}` },
  { what: 'a line that belongs to no journal', mutate: (text) => text.concat('total 5\n') },
]

describe.for(JOURNALS)('convert --check --to $name', ({ name }) => {
  let text = ''

  beforeAll(async () => {
    const out = join(folder, name)
    await convert(output, { to: name, out })
    text = readFileSync(out, 'utf8')
    expect(await mistakesIn(text, name)).toEqual([])
  })

  test('is tested with thirty errors', () => {
    expect(MUTATIONS).toHaveLength(30)
  })

  test('accepts the empty journal of a year without movements', async () => {
    const out = join(folder, `${name}-1999`)
    await convert(output, { to: name, out, from: '1999-01-01', until: '1999-12-31' })
    expect(await mistakesIn(readFileSync(out, 'utf8'), name)).toEqual([])
  })

  test.for(MUTATIONS)('finds $what', async ({ mutate }) => {
    const bad = mutate(text)
    expect(bad).not.toBe(text)
    expect((await mistakesIn(bad, name)).length).toBeGreaterThan(0)
  })
})
