// @module-tag long

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseTargetUrl } from '../../src/load/addresses.ts'
import { loadInto } from '../../src/load/load.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { postgres, urlOf } from './engines.ts'
import { describeScenarios, writeExport, written } from './scenarios.ts'

beforeAll(() => (postgres.skipped ? undefined : postgres.start()))
afterAll(() => (postgres.skipped ? undefined : postgres.stop()))

describeScenarios(postgres)

describe.skipIf(postgres.skipped)('a PostgreSQL database', () => {
  test('can have the tables in a schema', async () => {
    const { folder, place } = await written(postgres)
    await loadInto(folder, place.to, { namespace: { schema: 'lake' } })
    await loadInto(folder, place.to, { namespace: { schema: 'lake' } })
    expect(await place.run('SELECT count(value + 1)::int AS n FROM lake.ledger')).toEqual([{ n: 18 }])
  })

  test('writes no version of a row that did not change', async () => {
    const { folder, place } = await written(postgres)
    await loadInto(folder, place.to)
    const versions = () => place.run('SELECT entry_id, xmin, xmax, ctid FROM ledger ORDER BY entry_id')
    const before = await versions()
    const lake = goodLake()
    const changed = String(lake.ledger[0]?.entry_id)
    for (const row of lake.ledger) if (row.entry_id === changed) row.counterparty_name = 'changed'
    await writeExport(folder, lake)
    await loadInto(folder, place.to)
    const isOther = ({ entry_id: id }: Record<string, unknown>) => id !== changed
    const after = await versions()
    expect(after.filter(isOther)).toEqual(before.filter(isOther))
    expect(after).not.toEqual(before)
  })

  test.for([
    { sql: 'CREATE TABLE ledger (chain_id bigint)', says: 'chain_id is bigint, expected text NOT NULL' },
    { sql: 'CREATE TABLE ledger (chain_id text NOT NULL)', says: 'the key column entry_id is missing' },
  ])('is rejected if a table has incompatible columns: $says', async ({ sql, says }) => {
    const { folder, place } = await written(postgres)
    await place.run(sql)
    await expect(loadInto(folder, place.to)).rejects.toThrow(says)
    expect(await place.run("SELECT to_regclass('walletlake_loads') AS there")).toEqual([{ there: null }])
  })

  test('is rejected if a table has lost its key, with the statement that restores it', async () => {
    const { folder, place } = await written(postgres)
    await loadInto(folder, place.to)
    await place.run('ALTER TABLE ledger DROP CONSTRAINT ledger_pkey')
    const failure = await loadInto(folder, place.to).catch((thrown) => thrown)
    expect(failure.message).toContain('no unique key on entry_id')
    await place.run(String(failure.fix).split(', or')[0] ?? '')
    await loadInto(folder, place.to)
  })

  test('is locked while another load is in progress', async () => {
    const { folder, place } = await written(postgres)
    const url = place.address
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await other.query("SELECT pg_advisory_lock(hashtextextended('walletlake  ', 0))")
    await expect(loadInto(folder, place.to)).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
    await other.end()
    await loadInto(folder, place.to)
  })

  test.for([
    { when: 'the password is wrong', change: (url: string) => url.replace(/:[^:@]+@/, ':wr%40ng%2Fsecret@') },
    { when: 'the port is wrong', change: (url: string) => url.replace(/:\d+\//, ':1/') },
    { when: 'there is no such database', change: (url: string) => `${url}x` },
    {
      when: 'the host does not exist',
      change: (url: string) => url.replace('127.0.0.1', 'no-such-host.invalid'),
    },
  ])('is named without its password when $when', async ({ change }) => {
    const { folder, place } = await written(postgres)
    const url = place.address
    const failure = await loadInto(folder, urlOf(change(url))).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'LOAD_FAILED', fix: expect.stringContaining('PGPASSWORD') })
    expect(failure.message).toContain('cannot connect to postgres://')
    for (const secret of ['p@ss', 'p%40ss', 'wr@ng', 'wr%40ng']) {
      expect(`${failure.message} ${failure.fix} ${failure.stack}`).not.toContain(secret)
    }
  })

  test('takes the password from PGPASSWORD', async () => {
    const { folder, place } = await written(postgres)
    const url = place.address
    process.env.PGPASSWORD = decodeURIComponent(new URL(url).password)
    try {
      const bare = new URL(url)
      bare.password = ''
      await loadInto(folder, parseTargetUrl(bare.href, process.env) as ReturnType<typeof urlOf>)
    } finally {
      delete process.env.PGPASSWORD
    }
  })
})
