import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../../src/accounting/check/check-file.ts'
import { convert } from '../../../src/accounting/convert.ts'
import type { Preset, Role } from '../../../src/accounting/csv/preset.ts'
import { typeSides } from '../../../src/accounting/csv/types.ts'
import type { LegSide } from '../../../src/accounting/import-rows.ts'
import { MULTI_FILE_WRITERS, PRESETS } from '../../../src/accounting/presets/index.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { writePrices } from '../../helpers/prices.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { mistakeFinder } from './mistakes.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const mistakesIn = mistakeFinder()

beforeAll(async () => {
  await exportDemo(output, { endBlock: 30 })
  expect(demoWallets).toHaveLength(53)
})

async function goodText(to: string): Promise<string> {
  const out = join(folder, to)
  await convert(output, { to, out })
  return readFileSync(out, 'utf8')
}

/** Makes it when it is asked for, and once. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** All kinds of CSV file, those of programs that take several among them. */
const FORMS: { title: string; to: string; form: Preset; textOf: () => Promise<string> }[] = [
  ...PRESETS.map((form) => ({
    ...{ title: form.name, to: form.name, form },
    textOf: once(() => goodText(form.name)),
  })),
  ...MULTI_FILE_WRITERS.flatMap(({ name, files }) =>
    files.map((form) => ({
      ...{ title: `${name}, ${form.file}`, to: name, form },
      textOf: once(() => longestOf(name, form.file)),
    })),
  ),
]

/** The longest of the files of one kind. */
async function longestOf(to: string, file: string): Promise<string> {
  const out = join(folder, `${to}-all`)
  await convert(output, { to, out, prices: await writePrices(output, join(folder, 'prices.csv')) })
  const name = new RegExp(`^${file.replace('{wallet}', '0x[0-9a-f]{40}')}$`)
  const texts = readdirSync(out)
    .filter((one) => name.test(one))
    .map((one) => readFileSync(join(out, one), 'utf8'))
  return texts.reduce((a, b) => (b.length > a.length ? b : a))
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

const amounts: Role[] = ['outAmount', 'amount', 'outAmountOrZero']
/** Some files have no column for it: there it is another cell that cannot be empty. */
const assets: Role[] = ['outAsset', 'asset', 'block']

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

describe.for(FORMS)('convert --check --to $title', ({ to, form, textOf }) => {
  test('finds each of thirty planted mistakes', async () => {
    const text = await textOf()
    expect(await mistakesIn(text, to)).toEqual([])
    let planted = 0
    for (const one of SPOILS) {
      const bad = spoilt(text, form, one)
      if (bad === undefined) continue
      planted += 1
      expect([one.what, (await mistakesIn(bad, to)).length > 0]).toEqual([one.what, true])
    }
    expect(planted).toBe(30)
  })

  test('finds a type that the program does not know', async () => {
    const rows = parse(await textOf()) as string[][]
    const at = form.columns.findIndex(([, role]) => role === 'type')
    const isKnown = form.labels !== undefined && at !== -1
    for (const row of rows.slice(8, 9)) row[at] = 'Gambling'
    const found = await mistakesIn(stringify(rows), to)
    expect([...new Set(found.map(({ line }) => line))]).toEqual(isKnown ? [9] : [])
  })

  test('finds a type on a row without the amounts that the type needs', async () => {
    const at = (role: Role) => form.columns.findIndex(([, one]) => one === role)
    const [type, came, gone] = [at('type'), at('inAmount'), at('outAmount')]
    const rows = parse(await textOf()) as string[][]
    const misfits: number[] = []
    for (const [index, row] of rows.entries()) {
      if (index === 0 || type === -1 || came === -1 || gone === -1) continue
      const leg: LegSide = row[came] === '' ? 'out' : row[gone] === '' ? 'in' : 'swap'
      const wrong = [...typeSides(form)].find(([, legs]) => !legs.has(leg))?.[0]
      if (wrong === undefined || form.walletOfType?.[wrong] !== undefined) continue
      row[type] = wrong
      misfits.push(index + 1)
    }
    const found = await mistakesIn(stringify(rows), to)
    expect([...new Set(found.map(({ line }) => line))]).toEqual(misfits)
    expect(misfits.length > 0).toBe(type !== -1 && came !== -1 && gone !== -1)
  })

  test('finds a row that stands twice, where rows can be told apart', async () => {
    const lines = (await textOf()).trimEnd().split('\n')
    const found = await mistakesIn([...lines, lines[9], ''].join('\n'), to)
    const isTold = form.columns.some(([, role]) => role === 'hash' || role === 'id' || role === 'note')
    expect(found.length > 0).toBe(isTold && form.mayRepeatRows !== true)
  })
})

test('a file that is not there, is empty, or is no CSV is refused with its place', async () => {
  await expect(checkFile(join(folder, 'none'), 'koinly', () => {})).rejects.toMatchObject({ code: 'USAGE' })
  expect(await mistakesIn('', 'koinly')).toEqual([{ line: 1, what: 'the file is empty' }])
  expect((await mistakesIn('a,"b\n', 'koinly'))[0]?.line).toBeGreaterThan(0)
})

test.for([
  { to: 'koinly', fix: 'Name the file itself.' },
  { to: 'hledger', fix: 'Name the file itself.' },
  { to: 'rp2', fix: 'Name one of the files in it: in.csv, out.csv or intra.csv.' },
  { to: 'etherscan', fix: expect.stringMatching(/: export-0x….csv, .* or export-nft-0x….csv\.$/) },
])('a folder is refused, and a file is asked for: $to', async ({ to, fix }) => {
  const message = `${folder} is a folder, and one file is checked at a time`
  await expect(checkFile(folder, to, () => {})).rejects.toMatchObject({ code: 'USAGE', message, fix })
})

test("rotki's file may have a coin of any symbol, but no token by a ticker", async () => {
  const text = await goodText('rotki')
  for (const coin of ['B_C', 'Ä-1', 'x.y'])
    expect(await mistakesIn(text.replaceAll(',AVAX,', `,${coin},`), 'rotki')).toEqual([])
  expect(await mistakesIn(text.replace(',AVAX,', ',X-b97ef9ef,'), 'rotki')).toHaveLength(1)
})
