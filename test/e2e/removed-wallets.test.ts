import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job, Wallet } from '../../src/core/model/model.ts'
import { DEFAULT_TABLES, type TableName } from '../../src/core/table/index.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import {
  forked,
  growingChain,
  headJob,
  inNewFolder,
  rowsIn,
  runOnce,
  unchanged,
} from '../helpers/growing-chain.ts'
import { smallWallets } from '../helpers/node-data.ts'
import { readManifest, type TextRow } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'

const [FIRST_NIGHT, A_NIGHT] = [120, 60]

type Given = Partial<Omit<Job, 'wallets'>>

/** Runs a job twice, the second time without the wallet `left`, which was read up to block `end` (exclusive). */
async function leave(given: Given = {}) {
  const chain = await growingChain(FIRST_NIGHT)
  const whole = headJob(chain.url, given)
  await runOnce(whole)
  const [left = { address: '', label: null }, ...wallets] = whole.wallets
  await chain.advance(A_NIGHT)
  const job = { ...whole, wallets }
  await runOnce(job)
  return { chain, whole, job, left, end: FIRST_NIGHT + 1 }
}

const coverageOf = (output: string, { address }: Wallet) =>
  readManifest(output).coverage.find((one) => one.address === address)

const byAddress = (a: Wallet, b: Wallet) => (a.address < b.address ? -1 : 1)

/** Expects the rows of all wallets before the block `end`, and of the remaining wallets from there on. */
async function expectHistoryStays(job: Job, { left, end }: { left: Wallet; end: number }): Promise<void> {
  const fresh = async (wallets: readonly Wallet[]) => {
    const first = inNewFolder({ ...job, wallets })
    await runOnce(first)
    return rowsIn(first.output)
  }
  const [before, after] = [await fresh([left, ...job.wallets].sort(byAddress)), await fresh(job.wallets)]
  const at = ({ block_number: block }: TextRow) => Number(block)
  const expected = (table: TableName) => [
    ...before[table].filter((row) => at(row) < end),
    ...after[table].filter((row) => at(row) >= end),
  ]
  const rows = await rowsIn(job.output)
  for (const table of DEFAULT_TABLES) expectSameRows(rows[table], expected(table))
  await expectValid(job.output)
}

/** Compares rows, but reports only the first difference. */
function expectSameRows(rows: readonly TextRow[], expected: readonly TextRow[]): void {
  const at = rows.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(expected[index]))
  expect([rows.length, rows[at]]).toEqual([expected.length, expected[at]])
}

testSample(
  1,
  [100, 5, 400],
  'keeps the history of a removed wallet if %i blocks are read again',
  async (blocks) => {
    const { chain, job, left, end } = await leave()
    const before = coverageOf(job.output, left)
    expect(before).toMatchObject({ removed: true, toBlock: end })
    await chain.advance(A_NIGHT)
    await runOnce(job, { lookbackBlocks: blocks })
    expect(coverageOf(job.output, left)).toEqual(before)
    await expectHistoryStays(job, { left, end })
  },
)

test('reads blocks of a removed wallet again with those of the others', { tags: ['long'] }, async () => {
  const chain = await growingChain(FIRST_NIGHT)
  const whole = headJob(chain.url)
  chain.listing.view = forked(100)
  await runOnce(whole)
  chain.listing.view = unchanged
  const [left = { address: '', label: null }, ...wallets] = whole.wallets
  const job = { ...whole, wallets }
  await runOnce(job, { lookbackBlocks: 60 })
  await expectHistoryStays(job, { left, end: FIRST_NIGHT + 1 })
})

const moreWallets = (job: Job): Job => {
  const more = headJob('', { addresses: smallWallets.slice(6, 8) }).wallets
  return { ...job, wallets: [...job.wallets, ...more].sort(byAddress) }
}

const renamed = (job: Job): Job => ({
  ...job,
  wallets: job.wallets.map((one) => ({ ...one, label: 'renamed' })),
})

testSample(
  1,
  [
    { what: 'a wallet was added', change: moreWallets, isLost: false },
    { what: 'a wallet was added and the checkpoint is lost', change: moreWallets, isLost: true },
    { what: 'labels changed', change: renamed, isLost: false },
  ],
  'keeps the history of a removed wallet if $what',
  async ({ change, isLost }) => {
    const { job, left, end } = await leave()
    const before = coverageOf(job.output, left)
    if (isLost) rmSync(join(job.output, '.walletlake'), { recursive: true })
    const changed = change(job)
    await runOnce(changed)
    expect(coverageOf(job.output, left)).toEqual(before)
    await expectHistoryStays(changed, { left, end })
  },
)

test('a wallet removed from an interrupted run keeps the history of earlier runs', {
  tags: ['long'],
}, async () => {
  const chain = await growingChain(FIRST_NIGHT)
  const whole = headJob(chain.url, { concurrency: 1 })
  await runOnce(whole)
  await chain.advance(A_NIGHT)
  const { jobs } = await run([whole], { lookbackBlocks: 60, maxRequests: 3 })
  expect(jobs[0]?.error?.code).toBe('BUDGET_REACHED')
  const [left = { address: '', label: null }, ...wallets] = whole.wallets
  await runOnce({ ...whole, wallets })
  await expectHistoryStays({ ...whole, wallets }, { left, end: FIRST_NIGHT + 1 })
  await runOnce(whole)
  const fresh = inNewFolder(whole)
  await runOnce(fresh)
  expect(await rowsIn(whole.output)).toEqual(await rowsIn(fresh.output))
})

test('keeps the raw items of a removed wallet', async () => {
  const { job, left } = await leave({ keepRaw: true, tables: ['ledger'] })
  const raw = () => readFileSync(join(job.output, 'raw', `${left.address}.ndjson.gz`)).toString('hex')
  const before = raw()
  await runOnce(job, { lookbackBlocks: 200 })
  await runOnce(renamed(job))
  expect(raw()).toBe(before)
})

const listed = (output: string) =>
  readManifest(output).coverage.map(({ address, removed = false }) => ({ address, removed }))

test('includes a wallet in the coverage that is added after a run without results', async () => {
  const chain = await growingChain(FIRST_NIGHT)
  const job = headJob(chain.url)
  chain.listing.view = () => []
  await runOnce({ ...job, wallets: job.wallets.slice(1) })
  const result = await runOnce(job)
  expect(listed(job.output)).toEqual(job.wallets.map(({ address }) => ({ address, removed: false })))
  expect(result?.stats.emptyWallets?.count).toBe(job.wallets.length)
  await expectValid(job.output)
})

test('distinguishes a removed and re-added wallet from the others in runs with nothing new', {
  tags: ['long'],
}, async () => {
  const chain = await growingChain(FIRST_NIGHT)
  const job = headJob(chain.url)
  await runOnce(job)
  // The second run claims for every wallet what the first one has proven.
  await runOnce(job)
  const first = readFileSync(join(job.output, 'manifest.json'), 'utf8')
  const rows = await rowsIn(job.output)
  await runOnce({ ...job, wallets: job.wallets.slice(1) })
  expect(listed(job.output)[0]).toEqual({ address: job.wallets[0]?.address, removed: true })
  expect(await rowsIn(job.output)).toEqual(rows)
  await runOnce(job)
  expect(readFileSync(join(job.output, 'manifest.json'), 'utf8')).toBe(first)
  await expectValid(job.output)
})
