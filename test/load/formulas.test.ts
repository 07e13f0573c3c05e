import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadInto } from '../../src/load/load.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { duckdb } from './engines.ts'
import { inOrder } from './hostile-export.ts'
import { writeExport } from './scenarios.ts'
import type { ExportOptions } from './write-export.ts'

/** Exports token names, loads the export and returns the loaded names. */
async function loadedNames(names: readonly string[], writing: ExportOptions, unescapeFormulas?: boolean) {
  const lake = goodLake()
  for (const [at, row] of lake.erc20_transfers.entries()) row.token_name = names[at] ?? 'plain'
  const folder = join(tempFolder(), 'out')
  await writeExport(folder, lake, { tables: ['erc20_transfers'], ...writing })
  const place = await duckdb.place()
  await loadInto(folder, place.to, { unescapeFormulas })
  const rows = inOrder(await place.rows('erc20_transfers'))
  return rows.map((row) => row.token_name)
}

const FORMULAS = ['=1+1', '@home', '\ttab', '+-1']

test('removes the apostrophe that the export wrote before a formula', async () => {
  const parquet = await loadedNames(FORMULAS, { ending: 'parquet' })
  expect(await loadedNames(FORMULAS, { ending: 'csv' })).toEqual(parquet)
  expect([...parquet].sort()).toEqual([...FORMULAS].sort())
})

test('keeps the apostrophe if unescaping is disabled', async () => {
  const escaped = await loadedNames(FORMULAS, { ending: 'csv' }, false)
  expect([...escaped].sort()).toEqual(FORMULAS.map((name) => `'${name}`).sort())
})

test.for(['csv', 'csv.gz', 'parquet'] as const)('keeps original apostrophes in %s', async (ending) => {
  const names = ["'=1", "''+1", "'plain", "don't"]
  expect([...(await loadedNames(names, { ending }))].sort()).toEqual([...names].sort())
})

test('removes no apostrophe if the manifest says that the export wrote none', async () => {
  const lake = goodLake()
  for (const row of lake.erc20_transfers) row.token_name = '=1+1'
  const folder = join(tempFolder(), 'out')
  await writeExport(folder, lake, { tables: ['erc20_transfers'], ending: 'csv' })
  const path = join(folder, 'manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...manifest, job: { ...manifest.job, escapeFormulas: false } }))
  const place = await duckdb.place()
  await loadInto(folder, place.to)
  const names = (await place.rows('erc20_transfers')).map((row) => row.token_name)
  expect(new Set(names)).toEqual(new Set(["'=1+1"]))
})

test('removes no apostrophe that does not precede a formula', async () => {
  const names = ["'", "''", "'x=1", "' ="]
  expect([...(await loadedNames(names, { ending: 'csv' }))].sort()).toEqual([...names].sort())
})

test('never changes the sign of numbers', async () => {
  const folder = join(tempFolder(), 'out')
  await writeExport(folder, goodLake(), { tables: ['ledger'] })
  const place = await duckdb.place()
  await loadInto(folder, place.to)
  const [sum] = await place.run(
    "SELECT sum(value::BIGNUM)::VARCHAR AS s FROM ledger WHERE entry_type = 'transfer'",
  )
  const expected = goodLake()
    .ledger.filter((row) => row.entry_type === 'transfer')
    .reduce((total, row) => total + BigInt(row.value ?? '0'), 0n)
  expect(sum?.s).toBe(expected.toString())
})
