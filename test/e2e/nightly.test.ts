import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import {
  expectSameAsFresh,
  growingChain,
  headJob,
  runOnce,
  unchanged,
  withoutBlocks,
} from '../helpers/growing-chain.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const NIGHTS = 30
const BLOCKS_A_NIGHT = 14
const some = demoWallets.slice(0, 12)

test('thirty nightly runs give the rows of one run at the end', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url, { count: 12 })
  for (let night = 0; night < NIGHTS; night += 1) {
    await runOnce(job)
    await chain.advance(BLOCKS_A_NIGHT)
  }
  await runOnce(job)
  expect(readManifest(job.output).tables.transactions?.files.length).toBeGreaterThan(20)
  await expectSameAsFresh(job)
  await chain.end()
})

test('a night with nothing new costs one request a wallet and changes nothing', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url, { count: 12 })
  await chain.advance(100)
  await runOnce(job)
  const before = readManifest(job.output)
  const asked = chain.asked.length
  expect((await runOnce(job))?.state).toBe('unchanged')
  expect(chain.asked.length - asked).toBe(some.length)
  expect(readManifest(job.output)).toEqual(before)
  await chain.end()
})

test('blocks read again bring late items and take vanished ones away', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  chain.shown.view = withoutBlocks(60, 61, 70)
  const job = headJob(chain.url, { count: 12 })
  await chain.advance(80)
  await runOnce(job)
  chain.shown.view = withoutBlocks(65, 71)
  await chain.advance(20)
  await runOnce(job, { lookbackBlocks: 60 })
  await expectSameAsFresh(job)
  chain.shown.view = unchanged
  await runOnce(job, { lookbackBlocks: 100 })
  await expectSameAsFresh(job)
  await chain.end()
})

test('a wallet added later is read back and shared rows stay single', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const output = tempFolder()
  await chain.advance(150)
  await runOnce(headJob(chain.url, { count: 6, output }))
  await chain.advance(150)
  await runOnce(headJob(chain.url, { count: 6, output }))
  const job = headJob(chain.url, { count: 12, output })
  await runOnce(job)
  await expectSameAsFresh(job)
  await chain.end()
})

test('a removed wallet keeps its history up to where it was read', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const output = tempFolder()
  await chain.advance(150)
  await runOnce(headJob(chain.url, { count: 12, output }))
  await chain.advance(150)
  await runOnce(headJob(chain.url, { output, addresses: some.slice(1) }))
  const { coverage } = readManifest(output)
  const ends = new Map(coverage.map(({ address, toBlock }) => [address, toBlock]))
  expect(ends.get(some[0] ?? '')).toBeLessThan(ends.get(some[1] ?? '') ?? 0)
  expect((await verifyOutput(output)).problems).toEqual([])
  await chain.end()
})

/** Three nights: in the second a wallet is not in the job. */
async function wayAndBack({ quiet = false } = {}) {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url, { count: 6 })
  const without = { ...job, wallets: job.wallets.slice(1) }
  for (const [night, asked] of [job, without, job].entries()) {
    if (night < 2 || !quiet) await chain.advance(100)
    if (night < 2) await runOnce(asked)
  }
  return { chain, job, without }
}

test.for([false, true])(
  'a wallet that comes back is read from where it left; nothing new: %s',
  async (quiet) => {
    const { chain, job } = await wayAndBack({ quiet })
    const [away, other] = readManifest(job.output).coverage
    expect(away).toMatchObject({ address: job.wallets[0]?.address, removed: true })
    expect(away?.toBlock).toBeLessThan(other?.toBlock ?? 0)
    const asked = chain.asked.length
    await runOnce(job)
    expect(chain.asked.length - asked).toBeLessThan(20)
    await expectSameAsFresh(job)
    await chain.end()
  },
)

test('a wallet that comes back beside a new one, with blocks read again, lacks nothing', async () => {
  const { chain, job } = await wayAndBack()
  const more = headJob(chain.url, { count: 7, output: job.output })
  await runOnce(more, { lookbackBlocks: 20 })
  await expectSameAsFresh(more)
  await chain.end()
})

test.for(['before', 'after'])(
  'a wallet comes back where the checkpoint was lost %s its last night away',
  async (lost) => {
    const { chain, job, without } = await wayAndBack()
    const lose = () => rmSync(join(job.output, '.walletlake'), { recursive: true })
    if (lost === 'before') {
      lose()
      await runOnce(without)
      await chain.advance(30)
    } else lose()
    await runOnce(job)
    await expectSameAsFresh(job)
    await chain.end()
  },
)

test.for([
  {
    what: 'labels',
    given: (job: Job) => ({ wallets: job.wallets.map((one) => ({ ...one, label: 'new' })) }),
  },
  { what: 'nativeSymbol', given: () => ({ nativeSymbol: 'COIN' }) },
  { what: 'escapeFormulas', given: () => ({ escapeFormulas: false }) },
])('after a change of $what all rows are as a first run would make them', async ({ what, given }) => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url)
  await chain.advance(100)
  await runOnce(job)
  const changed = { ...job, ...given(job) }
  const asked = chain.asked.length
  const notices: string[] = []
  await runOnce(changed, { onNotice: (notice) => notices.push(notice) })
  expect(notices).toEqual([`test: ${what} changed, so all rows are written again`])
  expect(chain.asked.length - asked).toBe(job.wallets.length)
  await expectSameAsFresh(changed)
  expect((await runOnce(changed))?.state).toBe('unchanged')
  await chain.end()
})

test('a job with fewer tables is refused and nothing of the export is lost', async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url)
  await runOnce(job)
  await chain.advance(60)
  const [result] = (await run([{ ...job, tables: ['ledger'] }])).jobs
  expect(result?.error).toMatchObject({
    code: 'OUTPUT_CHANGED',
    message: expect.stringContaining('tables had'),
  })
  await runOnce(job)
  await expectSameAsFresh(job)
  await chain.end()
})

test('wallets that left the job are named by every run', async () => {
  const chain = await growingChain(100)
  const job = headJob(chain.url)
  await runOnce(job)
  const notices: string[] = []
  await runOnce({ ...job, wallets: job.wallets.slice(1) }, { onNotice: (notice) => notices.push(notice) })
  expect(notices).toEqual([
    `test: wallet ${job.wallets[0]?.address} is no longer in the job; its rows up to block 100 are retained`,
  ])
  await chain.end()
})

test('without its checkpoint an export still grows from its manifest', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url, { count: 12, keepRaw: true })
  await chain.advance(150)
  await runOnce(job)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  await chain.advance(100)
  const asked = chain.asked.length
  await runOnce(job)
  expect(chain.asked.length - asked).toBeLessThanOrEqual(some.length * 2)
  await chain.advance(100)
  await runOnce(job)
  await expectSameAsFresh(job)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  const more = headJob(chain.url, { count: 14, keepRaw: true, output: job.output })
  await runOnce(more)
  await expectSameAsFresh(more)
  await chain.end()
})

test.for([
  { what: 'chain', given: { chain: '1' } },
  { what: 'startBlock', given: { startBlock: 7 } },
  { what: 'format', given: { format: 'parquet', compression: 'zstd' } },
] as const)('a job with another $what is refused with what to do', async ({ what, given }) => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const output = tempFolder()
  await runOnce(headJob(chain.url, { count: 12, output }))
  const [result] = (await run([headJob(chain.url, { count: 12, output, ...given })])).jobs
  expect(result?.error).toMatchObject({ code: 'OUTPUT_CHANGED', fix: expect.stringContaining('--fresh') })
  expect(result?.error?.message).toContain(what)
  await chain.end()
})

test('a run that is cut short at any request goes on to the same files', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url, { count: 12 })
  await chain.advance(150)
  await runOnce(job)
  await chain.advance(150)
  for (let left = true; left; ) {
    const [result] = (await run([job], { maxRequests: 3 })).jobs
    left = result?.error?.code === 'BUDGET_REACHED'
  }
  await expectSameAsFresh(job)
  await chain.end()
})
