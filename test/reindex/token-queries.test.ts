import { expect, onTestFinished, test } from 'vitest'
import { openScratchDatabase } from '../../src/read/scratch-database.ts'
import type { LoggedRequest } from '../../src/reindex/request-log.ts'
import {
  loadRequestLog,
  loadTokens,
  previousRequests,
  selectStaleTokens,
  staleTokens,
  type TokenSql,
} from '../../src/reindex/token-queries.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const NOW = 1_700_000_000_000
const DAY_MS = 86_400_000

type Transfer = {
  id?: string
  place?: readonly [block: number, tx: number, log: number, ordinal?: number]
  status?: string | null
  name?: string | null
  updatedMs?: number | null
}

/** SQL for rows of a table with text in every cell, as in CSV. */
function rowsSql(transfers: readonly Transfer[]): string {
  const text = (cell: unknown) => (cell === null ? 'NULL' : `'${cell}'`)
  const rows = transfers.map(({ id = '7', place = [1, 0, 0], ...given }) => {
    const { status = 'INDEXED', name = 'n', updatedMs = NOW } = given
    const [block, tx, log, ordinal = 0] = place
    const updated = updatedMs === null ? null : new Date(updatedMs).toISOString()
    return `(${['0xa', id, status, updated, name, block, tx, log, ordinal].map(text).join(', ')})`
  })
  const columns = [
    'token_address',
    'token_id',
    'metadata_index_status',
    'metadata_updated_at',
    'metadata_name',
  ]
  const places = ['block_number', 'transaction_index', 'log_index', 'transfer_ordinal']
  return `(SELECT * FROM (VALUES ${rows.join(', ')}) AS t(${[...columns, ...places].join(', ')}))`
}

async function selectTokens(
  given: { erc721?: Transfer[]; erc1155?: Transfer[]; log?: LoggedRequest[]; olderThanMs?: number } = {},
) {
  const rows = await openScratchDatabase(tempFolder())
  onTestFinished(() => rows.close())
  const sql: TokenSql = {
    ...rows,
    eachFile: async (table, statement) => {
      const transfers = table === 'erc721_transfers' ? given.erc721 : given.erc1155
      // Each row is in a separate file, so that its position in a file does not decide which is last.
      for (const one of transfers ?? []) await rows.run(statement(rowsSql([one])))
    },
  }
  await loadTokens(sql)
  await loadRequestLog(sql, listed(given.log ?? []))
  const counts = await selectStaleTokens(sql, { nowMs: NOW, olderThanMs: given.olderThanMs })
  const tokens: string[] = []
  for await (const { id, reason } of staleTokens(sql)) tokens.push(`${id}: ${reason}`)
  return { sql, counts, tokens }
}

async function* listed<T>(items: readonly T[]): AsyncGenerator<T, void, void> {
  yield* items
}

test.for([
  { first: [9, 0, 0], last: [10, 0, 0] },
  { first: [10, 9, 0], last: [10, 10, 0] },
  { first: [10, 10, 9], last: [10, 10, 10] },
  { first: [10, 10, 10, 9], last: [10, 10, 10, 10] },
] as const)('uses the row at $last instead of the one at $first', async ({ first, last }) => {
  const good = { place: last }
  const bad = { place: first, status: 'UNINDEXED' }
  expect((await selectTokens({ erc1155: [good, bad] })).tokens).toEqual([])
  expect((await selectTokens({ erc1155: [{ ...bad, place: last }, { place: first }] })).tokens).toEqual([
    '7: UNINDEXED',
  ])
})

test('treats a token with transfers of both standards as one token', async () => {
  const old = { place: [1, 0, 0] as const, status: 'UNKNOWN' }
  const { tokens, counts } = await selectTokens({ erc721: [old], erc1155: [{ place: [2, 0, 0] }] })
  expect({ tokens, count: counts.tokens }).toEqual({ tokens: [], count: 1 })
})

test.for([
  { given: { status: null }, reason: 'no status' },
  { given: { status: 'INVALID_METADATA' }, reason: 'INVALID_METADATA' },
  { given: { name: null }, reason: 'no name' },
  { given: { status: 'indexed' }, reason: undefined },
  { given: { updatedMs: NOW - DAY_MS - 1 }, reason: 'old' },
  { given: { updatedMs: NOW - DAY_MS }, reason: undefined },
  { given: { updatedMs: null }, reason: 'old' },
])('selects $given for the reason $reason', async ({ given, reason }) => {
  const { tokens } = await selectTokens({ erc721: [given], olderThanMs: DAY_MS })
  expect(tokens).toEqual(reason === undefined ? [] : [`7: ${reason}`])
})

const logged = (fields: Partial<LoggedRequest>): LoggedRequest => ({
  address: '0xa',
  id: '7',
  answer: 'accepted',
  atMs: NOW - 10,
  untilMs: NOW,
  ...fields,
})

test.for([
  { when: 'was requested long enough ago', entries: [{}], recentlyRequested: 0 },
  { when: 'is still blocked', entries: [{ untilMs: NOW + 1 }], recentlyRequested: 1 },
  {
    when: 'has a later entry that its request was not sent',
    entries: [{ untilMs: NOW + 1 }, { answer: 'unsent' }],
    recentlyRequested: 0,
  },
  { when: 'is a different one', entries: [{ id: '8', untilMs: NOW + 1 }], recentlyRequested: 0 },
] as const)(
  'holds back $recentlyRequested tokens if a token $when',
  async ({ entries, recentlyRequested }) => {
    const { counts, tokens } = await selectTokens({ erc721: [{ status: null }], log: entries.map(logged) })
    expect(counts).toMatchObject({ missing: 1, recentlyRequested })
    expect(tokens).toHaveLength(1 - recentlyRequested)
  },
)

test('treats an accepted request as an update of the token', async () => {
  const erc721 = [{ updatedMs: NOW - 9 * DAY_MS }]
  const since = (answer: LoggedRequest['answer']) =>
    selectTokens({ erc721, olderThanMs: DAY_MS, log: [logged({ answer })] })
  expect((await since('accepted')).tokens).toEqual([])
  expect((await since('unknown')).tokens).toEqual(['7: old'])
})

test('keeps the last entry of each token exactly', async () => {
  const id = String(2n ** 256n - 1n)
  const log = [
    logged({}),
    logged({ answer: 'unknown' }),
    logged({ id, address: "0x'b" }),
    logged({ id: '9', answer: 'unsent' }),
  ]
  const { sql } = await selectTokens({ log })
  const kept: LoggedRequest[] = []
  for await (const batch of previousRequests(sql)) kept.push(...batch)
  expect(kept.sort((a, b) => a.id.length - b.id.length)).toEqual(log.slice(1, 3))
})

test('yields every token once if there are many', async () => {
  const { sql } = await selectTokens()
  await sql.run(`INSERT INTO tokens SELECT '0xa', i::VARCHAR, NULL, NULL, false FROM range(4500) AS t(i)`)
  await sql.run('DROP TABLE stale_tokens')
  const { missing } = await selectStaleTokens(sql, { nowMs: NOW, olderThanMs: undefined })
  const ids = new Set<string>()
  for await (const { id } of staleTokens(sql)) ids.add(id)
  expect({ missing, ids: ids.size }).toEqual({ missing: 4_500, ids: 4_500 })
})
