import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../src/convert/check-file.ts'
import { convert } from '../../src/convert/convert.ts'
import { JOURNALS } from '../../src/convert/journal.ts'
import type { Preset, Role } from '../../src/convert/preset.ts'
import { PRESETS } from '../../src/convert/presets/index.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { truthWallets } from '../helpers/truth.ts'

const folder = suiteFolder()
const output = join(folder, 'out')

beforeAll(async () => {
  await exportDemo(output, { endBlock: 20 })
  expect(truthWallets).toHaveLength(53)
})

async function goodFile(to: string): Promise<string> {
  const out = join(folder, to)
  await convert(output, { to, out })
  return out
}

async function mistakesIn(text: string, to: string): Promise<{ line: number; what: string }[]> {
  const path = join(folder, `spoilt-${to}`)
  writeFileSync(path, text)
  const mistakes: { line: number; what: string }[] = []
  await checkFile(path, to, (mistake) => mistakes.push(mistake)).catch((thrown: Error) =>
    mistakes.push({ line: Number(/:(\d+):/.exec(thrown.message)?.[1]), what: thrown.message }),
  )
  return mistakes
}

type Spoil = (rows: string[][], at: (role: Role) => number) => unknown

/** A line in the midst that has the cell. */
function cellOf(rows: string[][], column: number): { row: string[]; at: number } {
  const at = rows.findIndex((row, index) => index > 5 && (row[column] ?? '') !== '')
  return { row: rows[at] ?? [], at }
}

const set =
  (role: Role, change: (text: string) => string): Spoil =>
  (rows, at) => {
    const { row } = cellOf(rows, at(role))
    row[at(role)] = change(row[at(role)] ?? '')
  }

const amounts: Role[] = ['outAmount', 'amount']
const assets: Role[] = ['outAsset', 'asset']

/** What people and programs do to such files; each with the role that a format must have for it. */
const SPOILS: { what: string; needs?: Role[]; spoil: (role: Role) => Spoil }[] = [
  {
    what: 'a header renamed',
    spoil:
      () =>
      ([header]) =>
        header?.splice(0, 1, 'Datum'),
  },
  {
    what: 'another header renamed',
    spoil:
      () =>
      ([header]) =>
        header?.splice(1, 1, 'typ'),
  },
  { what: 'a column less', spoil: () => (rows) => rows.map((row) => row.pop()) },
  {
    what: 'a column more',
    spoil: () => (rows) => rows.map((row, at) => row.push(at === 0 ? 'Balance' : '1')),
  },
  {
    what: 'two columns changed over',
    spoil:
      () =>
      ([header]) =>
        header?.push(...header.splice(0, 1)),
  },
  { what: 'no header', spoil: () => (rows) => rows.shift() },
  { what: 'a row too short', spoil: () => (rows) => rows[7]?.pop() },
  { what: 'a row too long', spoil: () => (rows) => rows[7]?.push('') },
  { what: 'no date', needs: ['date'], spoil: (role) => set(role, () => '') },
  { what: 'a date in seconds', needs: ['date'], spoil: (role) => set(role, () => '1700000002') },
  {
    what: 'a day that there is not',
    needs: ['date'],
    spoil: (role) => set(role, (text) => text.replace(/14(?=[T/. ])/, '32').replace(/^17\d+/, '17')),
  },
  {
    what: 'a date without its time',
    needs: ['date'],
    spoil: (role) => set(role, (text) => text.slice(0, 10)),
  },
  {
    what: 'a date with a zone',
    needs: ['date'],
    spoil: (role) => set(role, (text) => text.concat(' +02:00')),
  },
  {
    what: 'a date as a spreadsheet shows it',
    needs: ['date'],
    spoil: (role) => set(role, () => '14.11.23 22:13'),
  },
  {
    what: 'an hour of 24',
    needs: ['date'],
    spoil: (role) => set(role, (text) => text.replace('22:', '24:').replace(/^1700/, '9700')),
  },
  { what: 'an exponent', needs: amounts, spoil: (role) => set(role, () => '1.5E-7') },
  { what: 'a comma for the point', needs: amounts, spoil: (role) => set(role, () => '1,5') },
  { what: 'thousands apart', needs: amounts, spoil: (role) => set(role, () => '1 000.5') },
  { what: 'a negative amount', needs: amounts, spoil: (role) => set(role, (text) => '-'.concat(text)) },
  {
    what: 'an amount with its asset',
    needs: amounts,
    spoil: (role) => set(role, (text) => text.concat(' AVAX')),
  },
  { what: 'a hexadecimal amount', needs: amounts, spoil: (role) => set(role, () => '0xff') },
  { what: 'no number', needs: amounts, spoil: (role) => set(role, () => 'NaN') },
  { what: 'two points', needs: amounts, spoil: (role) => set(role, () => '1.000.5') },
  { what: 'a point at the end', needs: amounts, spoil: (role) => set(role, () => '5.') },
  { what: 'no amount', needs: amounts, spoil: (role) => set(role, () => '') },
  { what: 'no asset', needs: assets, spoil: (role) => set(role, () => '') },
  { what: 'a control character', needs: assets, spoil: (role) => set(role, (text) => `${text}\u0007`) },
  { what: 'a hidden character', needs: assets, spoil: (role) => set(role, (text) => `US\u200bDC${text}`) },
  { what: 'a formula', needs: assets, spoil: (role) => set(role, () => '=1+1') },
  {
    what: 'a row of nothing',
    spoil: () => (rows) =>
      void rows.splice(
        7,
        1,
        (rows[7] ?? []).map((text, at) => (at === 0 ? text : '')),
      ),
  },
]

function spoilt(text: string, preset: Preset, { needs, spoil }: (typeof SPOILS)[number]): string | undefined {
  const at = (role: Role) => preset.columns.findIndex(([, one]) => one === role)
  const role = needs?.find((one) => at(one) !== -1)
  if (needs !== undefined && role === undefined) return undefined
  const rows = parse(text, { relax_column_count: true }) as string[][]
  spoil(role ?? 'empty')(rows, at)
  return stringify(rows)
}

describe.for(PRESETS)('convert --check --to $name', (preset) => {
  test('finds each of thirty planted mistakes', async () => {
    const text = readFileSync(await goodFile(preset.name), 'utf8')
    expect(await mistakesIn(text, preset.name)).toEqual([])
    let planted = 0
    for (const one of SPOILS) {
      const bad = spoilt(text, preset, one)
      if (bad === undefined) continue
      planted += 1
      expect([one.what, (await mistakesIn(bad, preset.name)).length > 0]).toEqual([one.what, true])
    }
    expect(planted).toBe(30)
  })

  test('finds a type that the program does not know, and one that does not fit', async () => {
    const text = readFileSync(await goodFile(preset.name), 'utf8')
    const rows = parse(text) as string[][]
    const at = preset.columns.findIndex(([, role]) => role === 'type')
    const isKnown = preset.otherTypes !== undefined && at !== -1
    for (const row of rows.slice(8, 9)) row[at] = 'Gambling'
    const found = await mistakesIn(stringify(rows), preset.name)
    expect(found.map(({ line }) => line)).toEqual(isKnown ? [9] : [])
  })

  test('finds a row that stands twice, where rows can be told apart', async () => {
    const text = readFileSync(await goodFile(preset.name), 'utf8')
    const lines = text.trimEnd().split('\n')
    const found = await mistakesIn([...lines, lines[9], ''].join('\n'), preset.name)
    const isTold = preset.columns.some(([, role]) => role === 'hash' || role === 'id' || role === 'note')
    expect(found.length > 0).toBe(isTold)
  })
})

const JOURNAL_SPOILS: { what: string; spoil: (text: string) => string }[] = [
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
  test.for(JOURNAL_SPOILS)('finds $what', async ({ spoil }) => {
    const text = readFileSync(await goodFile(name), 'utf8')
    const bad = spoil(text)
    expect(bad).not.toBe(text)
    expect(await mistakesIn(text, name)).toEqual([])
    expect((await mistakesIn(bad, name)).length).toBeGreaterThan(0)
  })
})

test('a file that is not there, is empty, or is no CSV is refused with its place', async () => {
  await expect(checkFile(join(folder, 'none'), 'koinly', () => {})).rejects.toMatchObject({ code: 'USAGE' })
  expect(await mistakesIn('', 'koinly')).toEqual([{ line: 1, what: 'the file is empty' }])
  expect((await mistakesIn('a,"b\n', 'koinly'))[0]?.line).toBeGreaterThan(0)
})
