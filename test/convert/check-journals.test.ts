import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../src/convert/convert.ts'
import { JOURNALS } from '../../src/convert/journal.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { mistakeFinder } from './mistakes.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const mistakesIn = mistakeFinder()

beforeAll(() => exportDemo(output, { endBlock: 20 }))

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
  { what: 'a line of something else', spoil: (text) => text.concat('total 5\n') },
]

describe.for(JOURNALS)('convert --check --to $name', ({ name }) => {
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
