// @module-tag long

import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_TABLES } from '../../src/core/table/index.ts'
import { loadInto } from '../../src/load/load.ts'
import {
  forked,
  growingChain,
  headJob,
  type Item,
  rowsIn,
  runOnce,
  withoutBlocks,
} from '../helpers/growing-chain.ts'
import { clickhouse, duckdb, postgres, sqlite } from './engines.ts'

const BLOCKCHAIN_ID = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5'

const engines = [duckdb, sqlite, postgres, clickhouse].filter(({ skipped }) => !skipped)

beforeAll(() => Promise.all(engines.map((engine) => engine.start())))
afterAll(() => Promise.all(engines.map((engine) => engine.stop())))

/** Items from this block on have no chain id, so that their rows get the job's. */
const silentFrom = (block: number) => (items: Item[]) =>
  items.map((item) => {
    const { chainId: _chainId, ...rest } = item.nativeTransaction
    return Number(rest.blockNumber) < block ? item : { ...item, nativeTransaction: rest }
  })

const CASES = [
  { what: 'the EVM chain id', silent: silentFrom(Number.POSITIVE_INFINITY) },
  { what: 'no chain id from some block on', silent: silentFrom(70) },
]

test.for(CASES)('replaces rows whose items have $what in every database', async ({ silent }) => {
  const chain = await growingChain(70, { alias: BLOCKCHAIN_ID })
  const job = headJob(chain.url, { chain: BLOCKCHAIN_ID, escapeFormulas: false })
  const places = await Promise.all(engines.map(async (engine) => ({ engine, place: await engine.place() })))
  const views = [withoutBlocks(41), withoutBlocks(46, 80), forked(52, 90, 100)]
  for (const [night, index] of views.entries()) {
    chain.listing.view = (items) => silent(index(items))
    if (night > 0) await chain.advance(30)
    await runOnce(job, night === 0 ? {} : { lookbackBlocks: 60 })
    const exported = await rowsIn(job.output)
    for (const { engine, place } of places) {
      await loadInto(job.output, place.to)
      for (const table of DEFAULT_TABLES) {
        const key = (row: Record<string, unknown>) =>
          `${row.chain_id} ${row.block_number} ${row.transaction_hash}`
        const loaded = await place.rows(table)
        const what = `${table} in ${engine.name}, night ${night}`
        expect(loaded.map(key).sort(), what).toEqual(exported[table].map(key).sort())
      }
    }
  }
})

test('keeps the rows of outputs apart that name the same chain by different ids', async () => {
  const chain = await growingChain(100, { alias: BLOCKCHAIN_ID })
  const place = await duckdb.place()
  const one = headJob(chain.url, { chain: BLOCKCHAIN_ID, name: 'one', count: 4 })
  const other = headJob(chain.url, { chain: '43114', name: 'other', count: 8 })
  for (const job of [one, other]) {
    await runOnce(job)
    await loadInto(job.output, place.to)
  }
  const rows = (await place.rows('ledger')).length
  chain.listing.view = withoutBlocks(70, 71, 72, 73, 74, 75, 76)
  await chain.advance(20)
  await runOnce(one, { lookbackBlocks: 60 })
  const { notices } = await loadInto(one.output, place.to)
  expect(notices).toContainEqual(expect.stringContaining('also loaded from the output other'))
  expect((await place.rows('ledger')).length).toBeGreaterThanOrEqual(rows)
})
