import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadInto } from '../../src/load/load.ts'
import { tempFile, tempFolder } from '../helpers/temp-folder.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { duckdb, type Place, urlOf } from './engines.ts'
import { describeScenarios, expectLake, writeExport, written } from './scenarios.ts'

describeScenarios(duckdb)

async function expectNumbers(place: Place) {
  const values = goodLake().ledger.map(({ value }) => BigInt(value ?? '0'))
  const sorted = await place.run('SELECT value::VARCHAR AS value FROM ledger ORDER BY ledger.value')
  expect(sorted.map(({ value }) => value)).toEqual(values.toSorted((a, b) => (a < b ? -1 : 1)).map(String))
  const total = values.reduce((sum, value) => sum + value, 0n)
  expect(await place.run('SELECT sum(value)::VARCHAR AS sum FROM ledger')).toEqual([{ sum: String(total) }])
}

describe('a DuckDB file', () => {
  test('sorts, compares and sums 256-bit numbers as numbers', async () => {
    const { folder, place } = await written(duckdb)
    await loadInto(folder, place.to)
    await expectNumbers(place)
  })

  test('converts the text columns of an earlier version to numbers', async () => {
    const { folder, place } = await written(duckdb)
    await loadInto(folder, place.to)
    await place.run(
      'ALTER TABLE ledger ALTER COLUMN value TYPE VARCHAR; ALTER TABLE ledger ALTER COLUMN token_id TYPE VARCHAR',
    )
    await loadInto(folder, place.to)
    await expectNumbers(place)
    await expectLake(place, goodLake())
  })

  test('suggests --memory if a row does not fit into memory', { tags: ['long'] }, async () => {
    const folder = join(tempFolder(), 'out')
    const lake = goodLake()
    Object.assign(lake.erc721_transfers[0] ?? {}, { metadata_image_uri: '<g/>,\n'.repeat(3_500_000) })
    await writeExport(folder, lake, { tables: ['erc721_transfers'] })
    const { to } = await duckdb.place()
    const failure = await loadInto(folder, to, { memory: '16MB' }).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'LOAD_FAILED', fix: expect.stringContaining('--memory 1GB') })
    expect(await loadInto(folder, to)).toMatchObject({ loaded: { erc721_transfers: { rows: 1 } } })
  })

  test('can have the tables in a schema with the same name as the file', async () => {
    const { folder, place } = await written(duckdb)
    await loadInto(folder, place.to, { namespace: { schema: 'lake' } })
    expect(readdirSync(dirname('file' in place.to ? place.to.file : ''))).toEqual(['lake.duckdb'])
    expect(await place.run('SELECT count(*)::INT AS n FROM lake.lake.ledger')).toEqual([{ n: 18 }])
  })

  test.for([
    { sql: 'CREATE TABLE ledger (chain_id BIGINT)', says: 'chain_id is BIGINT, expected VARCHAR NOT NULL' },
    {
      sql: 'CREATE TABLE ledger (chain_id VARCHAR NOT NULL)',
      says: 'the key column entry_id is missing',
    },
  ])('is rejected if a table has incompatible columns: $says', async ({ sql, says }) => {
    const { folder, place } = await written(duckdb)
    await place.run(sql)
    const failure = await loadInto(folder, place.to).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'LOAD_FAILED', fix: expect.stringContaining('--prefix') })
    expect(failure.message).toContain(says)
    expect(await place.run('SELECT * FROM ledger')).toEqual([])
    expect(await place.run('SHOW TABLES')).toEqual([{ name: 'ledger' }])
  })

  test('is named in the error if it cannot be opened', async () => {
    const { folder } = await written(duckdb)
    const file = tempFile('text.duckdb', 'this is not a database'.repeat(1000))
    const failure = await loadInto(folder, urlOf(`duckdb:${file}`)).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'LOAD_FAILED', message: expect.stringContaining(file) })
  })
})
