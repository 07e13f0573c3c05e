import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { newRunStats } from '../../src/core/model/run-stats.ts'
import { summarizeRun } from '../../src/export/history/run-report.ts'
import { summaryText } from '../../src/terminal/summary.ts'
import { testJob } from '../helpers/jobs.ts'

const stats = {
  ...newRunStats(2, Date.UTC(2025, 0, 1)),
  endedMs: Date.UTC(2025, 0, 1) + 1_500,
  requests: 9,
  computeUnits: 180,
  computeUnitsByDay: { '2025-01-01': 180 },
  rateLimited: 1,
  retries: 2,
  bytes: 700,
  pages: 6,
  items: 50,
  transactions: 40,
  written: {
    from: 400,
    to: 421,
    times: { first: Date.UTC(2024, 11, 31, 23), last: Date.UTC(2024, 11, 31, 23, 30) },
  },
  rows: { ledger: 3 },
  totalRows: { ledger: 30 },
  files: 7,
  rejects: 0,
  endBlock: 421,
}
const job = testJob({
  name: 'night',
  addresses: [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`],
  startBlock: 5,
})
const done = { job, state: 'complete', error: undefined, stats }

test('has the documented fields', () => {
  expect(summarizeRun({ id: 'r1', code: undefined, jobs: [done] })).toEqual({
    run: 'r1',
    exit: 0,
    code: null,
    startedAt: '2025-01-01T00:00:00.000Z',
    seconds: 1.5,
    jobs: [
      {
        run: 'r1',
        job: 'night',
        output: 'output/test',
        state: 'complete',
        exit: 0,
        error: null,
        startedAt: '2025-01-01T00:00:00.000Z',
        seconds: 1.5,
        service: { baseUrl: 'demo', apiKeyHeader: 'x-service-api-key' },
        chain: '43114',
        startBlock: 5,
        endBlock: 421,
        final: true,
        wallets: 2,
        requests: 9,
        computeUnits: 180,
        computeUnitsByDay: { '2025-01-01': 180 },
        rateLimited: 1,
        retries: 2,
        bytes: 700,
        pages: 6,
        items: 50,
        transactions: 40,
        smallPages: [],
        fromBlock: 400,
        toBlock: 421,
        firstTransactionAt: '2024-12-31T23:00:00.000Z',
        lastTransactionAt: '2024-12-31T23:30:00.000Z',
        rows: { ledger: 3 },
        totalRows: { ledger: 30 },
        rowsRemoved: {},
        rowsAdded: {},
        changesFile: null,
        files: 7,
        rejects: 0,
        statusUnknown: 0,
        feeUnknown: 0,
        feesUpperBound: 0,
        contradictedTransactions: 0,
        unresolvedTransactions: 0,
        wentBack: {},
        repeatedLogs: 0,
        missingBlocks: 0,
        refusedWallets: [],
        incompleteWallets: [],
        leftOut: null,
        emptyWallets: { count: 0, addresses: [] },
      },
    ],
  })
})

test('counts transactions whose status or fee is unknown', () => {
  const withUnknowns = { ...done, stats: { ...stats, statusUnknown: 1, feeUnknown: 2 } }
  const { jobs } = summarizeRun({ id: 'r1', code: undefined, jobs: [withUnknowns] })
  expect(jobs[0]).toMatchObject({ exit: 0, statusUnknown: 1, feeUnknown: 2 })
  const text = summaryText([withUnknowns], { now: 0, programName: 'walletlake' })
  expect(text).toContain('\n  1 transaction with unknown status, counted as successful\n')
  expect(text).toContain(
    '\n  2 own transactions with unknown fee: gas or price absent or 0, or a part for L1 or blobs not stated\n',
  )
})

test('gives each job its own exit code and the run that of the given code', () => {
  const error = new ExportError('BUDGET_REACHED', 'the deadline is reached')
  const failed = { job, state: 'failed', error, stats: { ...stats, endBlock: undefined } }
  const rejecting = { ...done, stats: { ...stats, rejects: 2 } }
  const summary = summarizeRun({ id: 'r2', code: 'BUDGET_REACHED', jobs: [done, rejecting, failed] })
  expect(summary).toMatchObject({ exit: 9, code: 'BUDGET_REACHED' })
  expect(summary.jobs.map(({ exit }) => exit)).toEqual([0, 6, 9])
  expect(summary.jobs[2]).toMatchObject({
    endBlock: null,
    state: 'failed',
    error: { code: 'BUDGET_REACHED', exit: 9, message: 'the deadline is reached' },
  })
})

test('counts missing blocks and gives their job exit code 6', () => {
  const missing = [
    { from: 5, to: 9 },
    { from: 20, to: 21 },
  ]
  const incomplete = { ...done, state: 'incomplete', stats: { ...stats, missing } }
  const summary = summarizeRun({ id: 'r3', code: 'BLOCKS_MISSING', jobs: [incomplete] })
  expect(summary).toMatchObject({ exit: 6, jobs: [{ exit: 6, state: 'incomplete', missingBlocks: 5 }] })
})

test('shows the number of changed rows by table and the file that lists them', () => {
  const range = { from: 100, to: 321 }
  const file = 'changes/000002-000000000100-000000000321.ndjson'
  const changes = {
    range,
    removed: { ledger: 1, transactions: 0 },
    added: { ledger: 2, transactions: 0 },
    file,
  }
  const changing = { ...done, stats: { ...stats, changes } }
  expect(summarizeRun({ id: 'r4', code: undefined, jobs: [changing] }).jobs[0]).toMatchObject({
    rowsRemoved: { ledger: 1, transactions: 0 },
    rowsAdded: { ledger: 2, transactions: 0 },
    changesFile: file,
  })
  expect(summaryText([changing], { now: 0, programName: 'walletlake' })).toContain(
    `  in blocks [100, 321), exported before: 1 row removed, 2 added\n    ledger: 1 row removed, 2 added\n    listed in output/test/${file}\n`,
  )
})

const summaryOf = (given: object, of: object = {}) =>
  summaryText([{ ...done, ...of, stats: { ...stats, ...given } }], { now: 0, programName: 'npx walletlake' })

test('shows the blocks that a run wrote and their times', () => {
  expect(summaryOf({})).toContain('\n  blocks 400 to 420, 2024-12-31 23:00 to 23:30 UTC\n')
  const days = { first: Date.UTC(2024, 11, 30, 5, 6), last: Date.UTC(2025, 0, 1, 7, 8) }
  expect(summaryOf({ written: { from: 0, to: 9, times: days } })).toContain(
    '\n  blocks 0 to 8, 2024-12-30 05:06 to 2025-01-01 07:08 UTC\n',
  )
  const once = { first: days.last, last: days.last }
  expect(summaryOf({ written: { from: 8, to: 9, times: once } })).toContain(
    '\n  block 8, 2025-01-01 07:08 UTC\n',
  )
  expect(summaryOf({ written: { from: 0, to: 9, times: undefined } })).toContain('\n  blocks 0 to 8\n')
})

test('lists up to five wallets without transactions and counts the others', () => {
  const address = `0x${'b'.repeat(40)}`
  const labelled = { ...job, wallets: [{ address, label: 'savings' }] }
  expect(summaryOf({ emptyWallets: { count: 1, addresses: [address] } }, { job: labelled })).toContain(
    `  1 wallet without transactions: wrong chain or wrong address?\n    ${address}  savings\n\n`,
  )
  const empty = { count: 7, addresses: Array.from({ length: 5 }, () => address) }
  for (const state of ['complete', 'unchanged']) {
    const text = summaryOf({ emptyWallets: empty }, { state })
    expect(text).toContain('  7 wallets without transactions')
    expect(text).toContain(`${address}\n    and 2 more, in manifest.json with "transactions": 0\n`)
  }
  expect(summaryOf({ emptyWallets: { count: 0, addresses: [] } })).not.toContain('without transactions')
})

test('omits the next steps without a program name', () => {
  const outcome = { ...done, stats }
  expect(summaryText([outcome], { now: 0, programName: undefined })).not.toContain('Next:')
  expect(summaryText([outcome], { now: 0, programName: 'npx walletlake' })).toContain('Next:')
})

test('no next step sends requests to the service', () => {
  const [, next = ''] = summaryOf({}, { job: { ...job, output: 'out/my wallets' } }).split('Next:\n')
  expect(next.split('\n')).toEqual([
    "  npx walletlake verify 'out/my wallets'",
    "  npx walletlake balances 'out/my wallets'",
    "  npx walletlake load 'out/my wallets' --to duckdb:lake.db",
    '  npx walletlake init    # a job of your own',
  ])
  expect(summaryOf({}, { job: { ...job, tables: ['transactions'] } })).toContain(
    'npx walletlake query output/test "FROM transactions LIMIT 10"',
  )
})

test('no line of a summary is wider than 80 columns', () => {
  const wide = { from: 62_345_678, to: 62_399_999, times: { first: 0, last: Date.UTC(2025, 0, 1) } }
  const lines = summaryOf({ written: wide, transactions: 123_456_789, requests: 1_234_567 }).split('\n')
  expect(lines.filter((line) => line.length > 80)).toEqual([])
})

test('jobs/schedule/README.md lists every field of the summary', () => {
  const manual = readFileSync(join(import.meta.dirname, '..', '..', 'jobs', 'schedule', 'README.md'), 'utf8')
  const fieldsIn = (head: string) => {
    const [, table = ''] = manual.split(`| ${head} |`)
    const [rows = ''] = table.split('\n\n')
    const names = rows
      .split('\n')
      .flatMap((line) => (line.split('|')[1] ?? '').match(/(?<=`)\w+(?=`)/g) ?? [])
    return names.sort()
  }
  const summary = summarizeRun({ id: 'r1', code: undefined, jobs: [done] })
  expect(fieldsIn('field of the run')).toEqual(Object.keys(summary).sort())
  expect(fieldsIn('field of a job')).toEqual(Object.keys(summary.jobs[0] ?? {}).sort())
})

test('shows the block up to which every wallet was read', () => {
  const summaryFor = (given: Partial<typeof job>) =>
    summaryText([{ ...done, job: { ...job, ...given } }], { now: stats.endedMs, programName: 'walletlake' })
  const line = '  each wallet was read to block 420; the next run reads the last blocks again'
  expect(summaryFor({ endBlock: undefined }).split('\n')).toContain(line)
  expect(summaryFor({ endBlock: 421 })).not.toContain('was read to')
})

test.for([
  { startBlock: 0, line: '  no transactions yet; the next run checks again' },
  { startBlock: 1000, line: '  no transactions yet from block 1000 on; the next run checks again' },
])('shows no block if there are no transactions from block $startBlock on', ({ startBlock, line }) => {
  for (const state of ['complete', 'unchanged']) {
    const text = summaryOf(
      { endBlock: startBlock, written: undefined },
      { state, job: { ...job, startBlock, endBlock: undefined } },
    )
    expect(text.split('\n')).toContain(line)
    expect(text).not.toMatch(/to block/)
  }
})
