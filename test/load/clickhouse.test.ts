import { afterAll, describe, expect, test } from 'vitest'
import { loadInto } from '../../src/load/load.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { clickhouse, standIn, urlOf } from './engines.ts'
import { describeScenarios, expectLake, writeExport, written } from './scenarios.ts'
import { within } from './write-export.ts'

afterAll(() => clickhouse.stop())

describeScenarios(clickhouse)

const queriesLike = (pattern: RegExp) => (standIn?.requests ?? []).filter(({ query }) => pattern.test(query))

describe('a ClickHouse database', () => {
  test('receives user and password in a header, never in the URL', async () => {
    const { folder, place } = await written(clickhouse)
    await loadInto(folder, place.to)
    const expected = `Basic ${Buffer.from('me:s3cr@t').toString('base64')}`
    for (const { authorization, search } of standIn?.requests ?? []) {
      expect(authorization).toBe(expected)
      expect(search.toString()).not.toContain('s3cr')
      expect(search.get('database')).toBe('lake')
    }
  })

  test('gets ReplacingMergeTree tables, and rows as CSV with the required settings', async () => {
    const { folder, place } = await written(clickhouse)
    await loadInto(folder, place.to)
    const [create] = queriesLike(/^CREATE TABLE IF NOT EXISTS `lake`\.`ledger`/)
    expect(create?.query).toContain('ENGINE = ReplacingMergeTree\nORDER BY (`entry_id`)')
    const [insert] = queriesLike(/^INSERT INTO `lake`\.`ledger` \(chain_id, .*\) FORMAT CSV/)
    expect(Object.fromEntries(insert?.search ?? [])).toMatchObject({
      date_time_input_format: 'best_effort',
      input_format_csv_empty_as_default: '1',
      insert_deduplicate: '0',
      async_insert: '0',
    })
    expect(insert?.body.split('\n')[0]).toMatch(/^"43114",100,"0xb100",2023-11-14T22:12:40\.123Z,"0x1+",0,/)
  })

  test('keeps the records of obsolete files until their blocks are corrected', {
    tags: ['long'],
  }, async () => {
    const { folder, place } = await written(clickhouse)
    await loadInto(folder, place.to)
    await writeExport(folder, within(goodLake(), 0, 300), { cuts: [0, 200, 300] })
    standIn?.refuse(/^DELETE FROM `lake`\.`ledger`/)
    const failure = await loadInto(folder, place.to).catch((thrown) => thrown)
    expect(failure).toMatchObject({
      code: 'LOAD_FAILED',
      message: expect.stringContaining('Cannot reserve space'),
    })
    standIn?.refuse(undefined)
    await loadInto(folder, place.to)
    await expectLake(place, within(goodLake(), 0, 300))
  })

  test('inserts only rows that differ, so that the others keep values in own columns', async () => {
    const { folder, place } = await written(clickhouse)
    await loadInto(folder, place.to)
    await place.run('ALTER TABLE ledger ADD COLUMN note Nullable(String)')
    for (const row of standIn?.rows('ledger') ?? []) row.note = 'mine'
    const lake = goodLake()
    const changed = String(lake.ledger[0]?.entry_id)
    for (const row of lake.ledger) if (row.entry_id === changed) row.counterparty_name = 'changed'
    await writeExport(folder, lake)
    await loadInto(folder, place.to)
    await expectLake(place, lake)
    const withoutNote = standIn?.rows('ledger').filter(({ note }) => note !== 'mine')
    expect(withoutNote?.map((row) => row.entry_id)).toEqual([changed])
  })

  test('loads a file again if its rows arrived without a record', async () => {
    const { folder, place } = await written(clickhouse)
    standIn?.refuse(/^INSERT INTO `lake`\.`ledger`/)
    await expect(loadInto(folder, place.to)).rejects.toThrow('ledger/')
    standIn?.refuse(undefined)
    await loadInto(folder, place.to)
    await expectLake(place, goodLake())
  })

  test('is rejected if a table has incompatible columns', async () => {
    const { folder, place } = await written(clickhouse)
    standIn?.run(
      'CREATE TABLE IF NOT EXISTS `ledger` (`chain_id` Int64) ENGINE = ReplacingMergeTree ORDER BY (`chain_id`)',
    )
    await expect(loadInto(folder, place.to)).rejects.toThrow('the column chain_id is Int64, expected String')
  })

  test('is named without its password if it cannot be reached', async () => {
    const { folder } = await written(clickhouse)
    const failure = await loadInto(folder, urlOf('clickhouse://me:s3cr%40t@127.0.0.1:1/lake')).catch(
      (thrown) => thrown,
    )
    expect(failure).toMatchObject({
      code: 'LOAD_FAILED',
      message: expect.stringContaining('cannot connect to clickhouse://127.0.0.1:1/lake'),
      fix: expect.stringContaining('CLICKHOUSE_PASSWORD'),
    })
    expect(`${failure.message}${failure.stack}`).not.toMatch(/s3cr/)
  })
})
