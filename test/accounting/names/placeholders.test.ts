import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { GOLDEN_CHAIN } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'

const folder = suiteFolder()
const [whole, early] = [join(folder, 'whole'), join(folder, 'early')]
const at = (name: string) => join(folder, name)

beforeAll(async () => {
  await exportMadeUp(whole, GOLDEN_CHAIN)
  await exportMadeUp(early, GOLDEN_CHAIN.slice(0, 4))
})

/** What each placeholder of a file stands for: contracts, as the descriptions of its lines name them. */
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

const koinly = (output: string, out: string, given: object = {}) =>
  convert(output, { to: 'koinly', swaps: 'off', out: at(out), ...given })

test('a number has one meaning in all files of an export, whatever part of it they hold', async () => {
  await koinly(whole, 'late.csv', { from: '2024-03-01' })
  await koinly(whole, 'all.csv')
  await koinly(whole, 'early.csv', { until: '2024-02-29' })
  expectOneMeaning(at('late.csv'), at('all.csv'), at('early.csv'))
  const map = readFileSync(`${whole}.assets.csv`, 'utf8')
  expect(map).toMatch(/^placeholder,chain_id,asset_type,asset_address,token_id,name\nNULL1,/)
  await koinly(whole, 'wallets', { perWallet: true })
  await convert(whole, { to: 'koinly', write: () => {} })
  expect(readFileSync(`${whole}.assets.csv`, 'utf8')).toBe(map)
})

test('an export that shares the file of an earlier one keeps its numbers and adds others behind them', async () => {
  const map = at('shared.csv')
  await koinly(early, 'shared-early.csv', { map })
  const before = readFileSync(map, 'utf8')
  await koinly(whole, 'shared-whole.csv', { map })
  expect(readFileSync(map, 'utf8').startsWith(before)).toBe(true)
  expect(readFileSync(map, 'utf8').length).toBeGreaterThan(before.length)
  expectOneMeaning(at('shared-early.csv'), at('shared-whole.csv'))
})

test('conversions at once give no number twice', async () => {
  const map = at('at-once.csv')
  const jobs = [whole, early, whole, early].map((output, index) =>
    koinly(output, `at-once-${index}`, { map }),
  )
  await Promise.all(jobs)
  expectOneMeaning(...jobs.map((_, index) => at(`at-once-${index}`)))
  const rows: string[][] = parse(readFileSync(map))
  expect(new Set(rows.map(([placeholder]) => placeholder)).size).toBe(rows.length)
  expect(readFileSync(map, 'utf8').split('\n').sort()).toEqual(
    readFileSync(`${whole}.assets.csv`, 'utf8').split('\n').sort(),
  )
})

test('the same contract on another chain has a number of its own', async () => {
  const map = at('chains.csv')
  const [header = '', first = ''] = readFileSync(`${whole}.assets.csv`, 'utf8').split('\n')
  const [placeholder, , ...asset] = first.split(',')
  writeFileSync(map, `${[header, [placeholder, '999999', ...asset].join(',')].join('\n')}\n`)
  await koinly(whole, 'chains-out.csv', { map })
  expect(placeholder).toBe('NULL1')
  expect(meaningsIn(at('chains-out.csv')).has('NULL1')).toBe(false)
})

test('a file without the column of chains keeps its numbers for the chain of the export', async () => {
  const map = at('no-chains.csv')
  const rows: string[][] = parse(readFileSync(`${whole}.assets.csv`))
  writeFileSync(
    map,
    rows.map(([placeholder, , ...asset]) => `${[placeholder, ...asset].join(',')}\n`).join(''),
  )
  await koinly(whole, 'no-chains-out.csv', { map })
  expectOneMeaning(at('no-chains-out.csv'), at('all.csv'))
})

test('a place that cannot keep the numbers is refused before anything is written', async () => {
  const map = join(at('all.csv'), 'map.csv')
  await expect(koinly(early, 'unkept.csv', { map })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`cannot keep the numbers of unknown assets in ${map}`),
    fix: expect.stringContaining('--map'),
  })
  expect(() => readFileSync(at('unkept.csv'))).toThrow()
})

test.for([
  { what: 'a number twice', change: (line: string) => line.replace('0x', '0xf') },
  { what: 'an asset twice', change: (line: string) => line.replace('NULL1,', 'NULL99,') },
])('a file with $what is refused with its line', async ({ change, what }) => {
  const map = at(`${what}.csv`)
  const [header = '', first = ''] = readFileSync(`${whole}.assets.csv`, 'utf8').split('\n')
  writeFileSync(map, [header, first, change(first), ''].join('\n'))
  await expect(koinly(whole, 'refused.csv', { map })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`${map}:3: found `),
  })
})

test('numbers that an earlier version kept beside a converted file are not given another meaning', async () => {
  writeFileSync(at('old.csv.assets.csv'), 'placeholder,asset_type,asset_address,token_id,name\n')
  await expect(koinly(whole, 'old.csv')).rejects.toMatchObject({
    code: 'USAGE',
    fix: expect.stringContaining(`--map ${at('old.csv.assets.csv')}`),
  })
})
