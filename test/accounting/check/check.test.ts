import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../../src/accounting/check/check-file.ts'
import { convert } from '../../../src/accounting/convert.ts'
import { type Preset, type Role, typeSides } from '../../../src/accounting/csv/preset.ts'
import { MULTI_FILE_WRITERS, PRESETS } from '../../../src/accounting/formats.ts'
import type { LegSide } from '../../../src/accounting/import-rows.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { writePrices } from '../../helpers/prices.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { EQUAL_SWAPS } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'
import { mistakeFinder } from './mistakes.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const mistakesIn = mistakeFinder()
/** Wallets with many entries of each kind: 39 with NFTs, 44 with tokens, 50 with internal transactions. */
const addresses = demoWallets.filter((_, at) => at < 6 || at === 39 || at === 44 || at === 50)

beforeAll(async () => {
  await exportDemo(output, {
    addresses,
    endBlock: 26,
  })
})

async function convertedText(to: string): Promise<string> {
  const out = join(folder, to)
  await convert(output, { to, out })
  return readFileSync(out, 'utf8')
}

/** Calls `make` at most once, on first use. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** All CSV formats, including each file of the formats that consist of several. */
const FORMS: { title: string; to: string; form: Preset; textOf: () => Promise<string> }[] = [
  ...PRESETS.map((form) => ({
    title: form.name,
    to: form.name,
    form,
    textOf: once(() => convertedText(form.name)),
  })),
  ...MULTI_FILE_WRITERS.flatMap(({ name, files }) =>
    files.map((form) => ({
      title: `${name}, ${form.file}`,
      to: name,
      form,
      textOf: once(() => longestOf(name, form.file ?? '')),
    })),
  ),
]

/** The conversions to formats of several files, by format. */
const convertedFolders = new Map<string, Promise<unknown>>()

async function convertedFolder(to: string, out: string): Promise<unknown> {
  // The demo chain has few swaps.
  if (to === 'rotki') await exportMadeUp(join(folder, 'swaps'), EQUAL_SWAPS)
  return convert(to === 'rotki' ? join(folder, 'swaps') : output, {
    to,
    out,
    prices: await writePrices(output, join(folder, 'prices.csv')),
  })
}

/** Returns the text of the longest file of one kind. */
async function longestOf(to: string, pattern: string): Promise<string> {
  const out = join(folder, `${to}-all`)
  const converted = convertedFolders.get(to) ?? convertedFolder(to, out)
  convertedFolders.set(to, converted)
  await converted
  const name = new RegExp(`^${pattern.replace('{wallet}', '0x[0-9a-f]{40}')}$`)
  const texts = readdirSync(out)
    .filter((file) => name.test(file))
    .map((file) => readFileSync(join(out, file), 'utf8'))
  return texts.reduce((a, b) => (b.length > a.length ? b : a))
}

/** Changes the rows of a file in place. `at` returns the index of a role's column, or -1. */
type Mutation = (rows: string[][], at: (role: Role) => number) => unknown

/** Finds a row after the first lines in which the cell of a column is not empty. */
function cellOf(rows: string[][], column: number): { row: string[]; at: number } {
  const at = rows.findIndex((row, index) => index > 5 && (row[column] ?? '') !== '')
  return { row: rows[at] ?? [], at }
}

const set =
  (role: Role, change: (text: string) => string): Mutation =>
  (rows, at) => {
    const { row } = cellOf(rows, at(role))
    row[at(role)] = change(row[at(role)] ?? '')
  }

const amounts: Role[] = ['outAmount', 'amount', 'outAmountOrZero']
/** Files without a column for assets use the block instead, which must not be empty either. */
const assets: Role[] = ['outAsset', 'asset', 'block']

/** Mistakes that people and programs make in such files. `needs` lists roles of which the format must have one. */
const MUTATIONS: { what: string; needs?: Role[]; mutate: (role: Role) => Mutation }[] = [
  {
    what: 'a renamed header',
    mutate:
      () =>
      ([header]) =>
        header?.splice(0, 1, 'Datum'),
  },
  {
    what: 'another renamed header',
    mutate:
      () =>
      ([header]) =>
        header?.splice(1, 1, 'typ'),
  },
  { what: 'a missing column', mutate: () => (rows) => rows.map((row) => row.pop()) },
  {
    what: 'an extra column',
    mutate: () => (rows) => rows.map((row, at) => row.push(at === 0 ? 'Balance' : '1')),
  },
  {
    what: 'headers in another order',
    mutate:
      () =>
      ([header]) =>
        header?.push(...header.splice(0, 1)),
  },
  { what: 'no header', mutate: () => (rows) => rows.shift() },
  { what: 'a row that is too short', mutate: () => (rows) => rows[7]?.pop() },
  { what: 'a row that is too long', mutate: () => (rows) => rows[7]?.push('') },
  { what: 'no date', needs: ['date'], mutate: (role) => set(role, () => '') },
  { what: 'a date in seconds', needs: ['date'], mutate: (role) => set(role, () => '1700000002') },
  {
    what: 'a date that does not exist',
    needs: ['date'],
    mutate: (role) => set(role, (text) => text.replace(/14(?=[T/. ])/, '32').replace(/^17\d+/, '17')),
  },
  {
    what: 'a date without a time',
    needs: ['date'],
    mutate: (role) => set(role, (text) => text.slice(0, 10)),
  },
  {
    what: 'a date with a time zone',
    needs: ['date'],
    mutate: (role) => set(role, (text) => text.concat(' +02:00')),
  },
  {
    what: 'a date in the format of a spreadsheet',
    needs: ['date'],
    mutate: (role) => set(role, () => '14.11.23 22:13'),
  },
  {
    what: 'the hour 24',
    needs: ['date'],
    mutate: (role) => set(role, (text) => text.replace('22:', '24:').replace(/^1700/, '9700')),
  },
  { what: 'an exponent', needs: amounts, mutate: (role) => set(role, () => '1.5E-7') },
  { what: 'a decimal comma', needs: amounts, mutate: (role) => set(role, () => '1,5') },
  { what: 'a thousands separator', needs: amounts, mutate: (role) => set(role, () => '1 000.5') },
  { what: 'a negative amount', needs: amounts, mutate: (role) => set(role, (text) => '-'.concat(text)) },
  {
    what: 'an amount followed by its asset',
    needs: amounts,
    mutate: (role) => set(role, (text) => text.concat(' AVAX')),
  },
  { what: 'a hexadecimal amount', needs: amounts, mutate: (role) => set(role, () => '0xff') },
  { what: 'an amount that is not a number', needs: amounts, mutate: (role) => set(role, () => 'NaN') },
  { what: 'two decimal points', needs: amounts, mutate: (role) => set(role, () => '1.000.5') },
  { what: 'a trailing decimal point', needs: amounts, mutate: (role) => set(role, () => '5.') },
  { what: 'no amount', needs: amounts, mutate: (role) => set(role, () => '') },
  { what: 'no asset', needs: assets, mutate: (role) => set(role, () => '') },
  { what: 'a control character', needs: assets, mutate: (role) => set(role, (text) => `${text}\u0007`) },
  {
    what: 'an invisible character',
    needs: assets,
    mutate: (role) => set(role, (text) => `US\u200bDC${text}`),
  },
  { what: 'a formula', needs: assets, mutate: (role) => set(role, () => '=1+1') },
  {
    what: 'an empty row',
    mutate: () => (rows) =>
      void rows.splice(
        7,
        1,
        (rows[7] ?? []).map((text, at) => (at === 0 ? text : '')),
      ),
  },
]

/**
 * The first rows of a file and, of each column, the first row that a mutation may change. So the thirty changed files of a
 * format are short, and the changed rows are those of the whole file.
 */
function shortened(text: string): string[][] {
  const rows = parse(text, { relax_column_count: true }) as string[][]
  const changed = new Set(rows[0]?.map((_, column) => cellOf(rows, column).at))
  return rows.filter((_, at) => at < 40 || changed.has(at))
}

function mutated(
  whole: readonly (readonly string[])[],
  preset: Preset,
  { needs, mutate }: (typeof MUTATIONS)[number],
): string | undefined {
  const at = (role: Role) => preset.columns.findIndex(([, one]) => one === role)
  const role = needs?.find((one) => at(one) !== -1)
  if (needs !== undefined && role === undefined) return undefined
  const rows = whole.map((row) => [...row])
  mutate(role ?? 'empty')(rows, at)
  return stringify(rows)
}

/** One with placeholders, one that merges equal rows, and those of several files. */
const KINDS = ['koinly', 'tokentax', 'rotki', 'rp2', 'etherscan']

describe.for(FORMS)('convert --check --to $title', ({ to, form, textOf }) => {
  const tags = KINDS.includes(to) ? [] : ['long']

  test('finds each of thirty inserted errors', { tags: ['long'] }, async () => {
    const text = await textOf()
    expect(await mistakesIn(text, to)).toEqual([])
    const rows = shortened(text)
    expect(await mistakesIn(stringify(rows), to)).toEqual([])
    let planted = 0
    for (const one of MUTATIONS) {
      const bad = mutated(rows, form, one)
      if (bad === undefined) continue
      planted += 1
      expect([one.what, (await mistakesIn(bad, to)).length > 0]).toEqual([one.what, true])
    }
    expect(planted).toBe(30)
  })

  test('finds an unknown type', { tags }, async () => {
    const rows = parse(await textOf()) as string[][]
    const at = form.columns.findIndex(([, role]) => role === 'type')
    const isKnown = form.labels !== undefined && at !== -1
    for (const row of rows.slice(8, 9)) row[at] = 'Gambling'
    const found = await mistakesIn(stringify(rows), to)
    expect([...new Set(found.map(({ line }) => line))]).toEqual(isKnown ? [9] : [])
  })

  test('finds a type on a row without the amounts that the type needs', { tags }, async () => {
    const at = (role: Role) => form.columns.findIndex(([, one]) => one === role)
    const [type, received, sent] = [at('type'), at('inAmount'), at('outAmount')]
    const rows = parse(await textOf()) as string[][]
    const misfits: number[] = []
    for (const [index, row] of rows.entries()) {
      if (index === 0 || type === -1 || received === -1 || sent === -1) continue
      const side: LegSide = row[received] === '' ? 'out' : row[sent] === '' ? 'in' : 'swap'
      const wrong = [...typeSides(form)].find(([, sides]) => !sides.has(side))?.[0]
      if (wrong === undefined || form.walletOfType?.[wrong] !== undefined) continue
      row[type] = wrong
      misfits.push(index + 1)
    }
    const found = await mistakesIn(stringify(rows), to)
    expect([...new Set(found.map(({ line }) => line))]).toEqual(misfits)
    expect(misfits.length > 0).toBe(type !== -1 && received !== -1 && sent !== -1)
  })

  test('finds a duplicate row if equal rows are merged or rows have an identifying column', {
    tags,
  }, async () => {
    const lines = (await textOf()).trimEnd().split('\n')
    const found = await mistakesIn([...lines, lines[9], ''].join('\n'), to)
    const isIdentified = form.columns.some(([, role]) => role === 'hash' || role === 'id' || role === 'note')
    const isMerged = form.equalLines.handling === 'merge'
    expect(found.length > 0).toBe(isMerged || (isIdentified && form.mayRepeatRows !== true))
  })
})

test('rejects a missing file, and reports an empty file and a file that is not CSV with a line', async () => {
  await expect(checkFile(join(folder, 'none'), 'koinly', () => {})).rejects.toMatchObject({ code: 'USAGE' })
  expect(await mistakesIn('', 'koinly')).toEqual([{ line: 1, what: 'the file is empty' }])
  expect((await mistakesIn('a,"b\n', 'koinly'))[0]?.line).toBeGreaterThan(0)
})

test.for([
  { to: 'koinly', fix: 'Name the file itself.' },
  { to: 'hledger', fix: 'Name the file itself.' },
  { to: 'etherscan', fix: expect.stringMatching(/: export-0x….csv, .* or export-nft-0x….csv\.$/) },
])('rejects a folder for $to and states which file to name', async ({ to, fix }) => {
  const message = `${folder} is a folder, and one file is checked at a time`
  await expect(checkFile(folder, to, () => {})).rejects.toMatchObject({ code: 'USAGE', message, fix })
})

test('accepts any symbol for the coin in a rotki file, but no ticker for a token and no ERC-1155 token', async () => {
  const text = await longestOf('rotki', 'events.csv')
  for (const coin of ['B_C', 'Ä-1', 'x.y', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'])
    expect(await mistakesIn(text.replaceAll(',AVAX,', `,${coin},`), 'rotki')).toEqual([])
  for (const ticker of ['X-b97ef9ef', 'X-b97ef9ef-8a6e'])
    expect(await mistakesIn(text.replace(',AVAX,', `,${ticker},`), 'rotki')).toHaveLength(1)
  for (const [kind, problems] of [
    ['721', 0],
    ['1155', 1],
  ] as const)
    expect(
      await mistakesIn(text.replace(',AVAX,', `,eip155:1/erc${kind}:0x${'7'.repeat(40)}/1,`), 'rotki'),
    ).toHaveLength(problems)
})

test.for([
  { what: 'a wallet with a comma', wallet: 'Ann, main', price: '1', says: 'wallet "Ann, main" contains ","' },
  { what: 'a wallet with a percent sign', wallet: '50%', price: '1', says: 'wallet "50%" contains "%"' },
  { what: 'a price that is zero in rp2', wallet: 'Ann', price: '0.000000000001', says: 'the price is zero' },
  { what: 'no price', wallet: 'Ann', price: '', says: 'there is no price' },
])('reports $what in a file for rp2', async ({ wallet, price, says }) => {
  const [header = ''] = (await longestOf('rp2', 'in.csv')).split('\n')
  const line = `1,2024-01-01 00:00:00+00:00,AVAX,"${wallet}",me,BUY,${price},1,,,,,note`
  expect(await mistakesIn(`${header}\n${line}\n`, 'rp2')).toEqual([
    { line: 2, what: expect.stringContaining(says) },
  ])
})
