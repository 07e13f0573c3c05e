import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { goodLake } from '../../verify/export/model-export.ts'
import { writeLake } from '../../verify/export/write-model-export.ts'
import { GOLDEN_CHAIN } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'

const folder = suiteFolder()
const [complete, early] = [join(folder, 'whole'), join(folder, 'early')]
const at = (name: string) => join(folder, name)

beforeAll(async () => {
  await exportMadeUp(complete, GOLDEN_CHAIN)
  await exportMadeUp(early, GOLDEN_CHAIN.slice(0, 4))
})

/** The contracts that each placeholder in a file refers to, taken from the descriptions of its lines. */
function meaningsIn(file: string): Map<string, Set<string>> {
  const meanings = new Map<string, Set<string>>()
  const rows: Record<string, string>[] = parse(readFileSync(file), { columns: true })
  for (const row of rows) {
    if ((row['Sent Currency'] === '') === (row['Received Currency'] === '')) continue
    const name = row['Sent Currency'] || row['Received Currency'] || ''
    const contract = /contract (0x[0-9a-f]{40})/.exec(row.Description ?? '')?.[1]
    if (contract === undefined) continue
    meanings.set(name, (meanings.get(name) ?? new Set()).add(contract))
  }
  return meanings
}

function expectOneMeaning(...files: string[]): void {
  const all = new Map<string, Set<string>>()
  for (const file of files)
    for (const [name, contracts] of meaningsIn(file))
      for (const contract of contracts) all.set(name, (all.get(name) ?? new Set()).add(contract))
  expect(all.size).toBeGreaterThan(3)
  expect([...all].filter(([, contracts]) => contracts.size !== 1)).toEqual([])
}

const koinly = (output: string, out: string, options: object = {}) =>
  convert(output, { to: 'koinly', swaps: 'off', out: at(out), ...options })

test('uses the same number for an asset in all files of an export, regardless of their period', async () => {
  await koinly(complete, 'late.csv', { from: '2024-03-01' })
  await koinly(complete, 'all.csv')
  await koinly(complete, 'early.csv', { until: '2024-02-29' })
  expectOneMeaning(at('late.csv'), at('all.csv'), at('early.csv'))
  const map = readFileSync(`${complete}.assets.csv`, 'utf8')
  expect(map).toMatch(/^placeholder,chain_id,asset_type,asset_address,token_id,name\nNULL1,/)
  await koinly(complete, 'wallets', { perWallet: true })
  await convert(complete, { to: 'koinly', write: () => {} })
  expect(readFileSync(`${complete}.assets.csv`, 'utf8')).toBe(map)
})

test('numbers assets in the order of their first rows, which several files contain', async () => {
  const [output, lake] = [at('lake'), goodLake()]
  await writeLake(output, lake)
  await koinly(output, 'lake.csv')
  const numbered: Record<string, string>[] = parse(readFileSync(`${output}.assets.csv`), { columns: true })
  const tokens = lake.ledger.filter(({ asset_address }) => asset_address !== null)
  expect(numbered.map(({ asset_type, token_id }) => `${asset_type} ${token_id}`)).toEqual([
    ...new Set(tokens.map(({ asset_type, token_id }) => `${asset_type} ${token_id ?? ''}`)),
  ])
})

test('keeps the numbers of an earlier export that shares the file, and appends new ones', async () => {
  const map = at('shared.csv')
  await koinly(early, 'shared-early.csv', { map })
  const before = readFileSync(map, 'utf8')
  await koinly(complete, 'shared-whole.csv', { map })
  expect(readFileSync(map, 'utf8').startsWith(before)).toBe(true)
  expect(readFileSync(map, 'utf8').length).toBeGreaterThan(before.length)
  expectOneMeaning(at('shared-early.csv'), at('shared-whole.csv'))
})

test('assigns no number twice in concurrent conversions', async () => {
  const map = at('at-once.csv')
  const jobs = [complete, early, complete, early].map((output, index) =>
    koinly(output, `at-once-${index}`, { map }),
  )
  await Promise.all(jobs)
  expectOneMeaning(...jobs.map((_, index) => at(`at-once-${index}`)))
  const rows: string[][] = parse(readFileSync(map))
  expect(new Set(rows.map(([placeholder]) => placeholder)).size).toBe(rows.length)
  expect(readFileSync(map, 'utf8').split('\n').sort()).toEqual(
    readFileSync(`${complete}.assets.csv`, 'utf8').split('\n').sort(),
  )
})

test('numbers the same contract on another chain separately', async () => {
  const map = at('chains.csv')
  const [header = '', first = ''] = readFileSync(`${complete}.assets.csv`, 'utf8').split('\n')
  const [placeholder, , ...asset] = first.split(',')
  writeFileSync(map, `${[header, [placeholder, '999999', ...asset].join(',')].join('\n')}\n`)
  await koinly(complete, 'chains-out.csv', { map })
  expect(placeholder).toBe('NULL1')
  expect(meaningsIn(at('chains-out.csv')).has('NULL1')).toBe(false)
})

test('assigns the numbers of a file without chain ids to the chain of the export', async () => {
  const map = at('no-chains.csv')
  const rows: string[][] = parse(readFileSync(`${complete}.assets.csv`))
  writeFileSync(
    map,
    rows.map(([placeholder, , ...asset]) => `${[placeholder, ...asset].join(',')}\n`).join(''),
  )
  await koinly(complete, 'no-chains-out.csv', { map })
  expectOneMeaning(at('no-chains-out.csv'), at('all.csv'))
})

test('rejects a path that cannot be written before writing any output', async () => {
  const map = join(at('all.csv'), 'map.csv')
  await expect(koinly(early, 'unkept.csv', { map })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`cannot keep the numbers of unknown assets in ${map}`),
    fix: expect.stringContaining('--map'),
  })
  expect(() => readFileSync(at('unkept.csv'))).toThrow()
})

test.for([
  { what: 'a repeated number', change: (line: string) => line.replace('0x', '0xf') },
  { what: 'a repeated asset', change: (line: string) => line.replace('NULL1,', 'NULL99,') },
])('rejects a file with $what and names its line', async ({ change, what }) => {
  const map = at(`${what}.csv`)
  const [header = '', first = ''] = readFileSync(`${complete}.assets.csv`, 'utf8').split('\n')
  writeFileSync(map, [header, first, change(first), ''].join('\n'))
  await expect(koinly(complete, 'refused.csv', { map })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`${map}:3: found `),
  })
})

test('rejects a conversion whose output has a file of numbers from an earlier version next to it', async () => {
  writeFileSync(at('old.csv.assets.csv'), 'placeholder,asset_type,asset_address,token_id,name\n')
  await expect(koinly(complete, 'old.csv')).rejects.toMatchObject({
    code: 'USAGE',
    fix: expect.stringContaining(`--map ${at('old.csv.assets.csv')}`),
  })
})
