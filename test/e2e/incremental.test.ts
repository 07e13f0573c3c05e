import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import {
  expectSameAsFresh,
  growingChain,
  headJob,
  rowsIn,
  runInSteps,
  runOnce,
  unchanged,
  withoutBlocks,
} from '../helpers/growing-chain.ts'
import { smallWallets } from '../helpers/node-data.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const BLOCKS_A_NIGHT = 14
/** Ten longer nights cover the whole chain. */
const [NIGHTS, LONG_NIGHT] = [10, 42]
const some = smallWallets

test('ten incremental runs give the rows of one run at the end', { tags: ['long'] }, async () => {
  const chain = await growingChain(LONG_NIGHT)
  const job = headJob(chain.url, { count: 12 })
  for (let night = 1; night < NIGHTS; night += 1) {
    await runOnce(job)
    await chain.advance(LONG_NIGHT)
  }
  await runOnce(job)
  expect(readManifest(job.output).tables.transactions?.files.length).toBe(NIGHTS)
  await expectSameAsFresh(job)
})

test('blocks read again add late items and remove items that are no longer listed', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  chain.listing.view = withoutBlocks(58, 61, 70)
  const job = headJob(chain.url, { count: 12 })
  await chain.advance(80)
  await runOnce(job)
  chain.listing.view = withoutBlocks(64, 74)
  await chain.advance(20)
  await runOnce(job, { lookbackBlocks: 60 })
  await expectSameAsFresh(job)
  chain.listing.view = unchanged
  const { transactions } = await rowsIn(job.output)
  await runOnce(job, { lookbackBlocks: 100 })
  expect((await rowsIn(job.output)).transactions.length).toBeGreaterThan(transactions.length)
  await expectSameAsFresh(job)
})

test('reads the history of an added wallet without duplicating shared rows', async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const output = tempFolder()
  await chain.advance(150)
  await runOnce(headJob(chain.url, { count: 1, output }))
  await chain.advance(150)
  await runOnce(headJob(chain.url, { count: 1, output }))
  const job = headJob(chain.url, { count: 7, output })
  await runOnce(job)
  await expectSameAsFresh(job)
})

/** Three runs; the second without one wallet. */
async function removeAndReadd({ isUnchanged = false } = {}) {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url, { count: 6 })
  const without = { ...job, wallets: job.wallets.slice(1) }
  for (const [night, nightJob] of [job, without, job].entries()) {
    if (night < 2 || !isUnchanged) await chain.advance(100)
    if (night < 2) await runOnce(nightJob)
  }
  return { chain, job, without }
}

testSample(
  0,
  [false, true],
  'reads a re-added wallet from the block where it was removed; nothing new: %s',
  async (isUnchanged) => {
    const { chain, job } = await removeAndReadd({ isUnchanged })
    const [away, other] = readManifest(job.output).coverage
    expect(away).toMatchObject({ address: job.wallets[0]?.address, removed: true })
    expect(away?.toBlock).toBeLessThan(other?.toBlock ?? 0)
    const requestsBefore = chain.received.length
    await runOnce(job)
    expect(chain.received.length - requestsBefore).toBeLessThan(20)
    await expectSameAsFresh(job)
  },
)

test('reads a re-added wallet completely together with a new one and a lookback', {
  tags: ['long'],
}, async () => {
  const { chain, job } = await removeAndReadd()
  const more = headJob(chain.url, { count: 7, output: job.output })
  await runOnce(more, { lookbackBlocks: 20 })
  await expectSameAsFresh(more)
})

testSample(
  0,
  ['before', 'after'],
  'reads a re-added wallet if the checkpoint was lost %s its last run without the wallet',
  async (lost) => {
    const { chain, job, without } = await removeAndReadd()
    const lose = () => rmSync(join(job.output, '.walletlake'), { recursive: true })
    if (lost === 'before') {
      lose()
      await runOnce(without)
      await chain.advance(30)
    } else lose()
    await runOnce(job)
    await expectSameAsFresh(job)
  },
)

testSample(
  1,
  [
    {
      what: 'labels',
      given: (job: Job) => ({ wallets: job.wallets.map((one) => ({ ...one, label: 'new' })) }),
    },
    { what: 'nativeSymbol', given: () => ({ nativeSymbol: 'COIN' }) },
    { what: 'escapeFormulas', given: () => ({ escapeFormulas: false }) },
  ],
  'rewrites all rows like a fresh export after a change of $what',
  async ({ what, given }) => {
    const chain = await growingChain(BLOCKS_A_NIGHT)
    const job = headJob(chain.url)
    await chain.advance(100)
    await runOnce(job)
    const changed = { ...job, ...given(job) }
    const requestsBefore = chain.received.length
    const notices: string[] = []
    await runOnce(changed, { onNotice: (notice) => notices.push(notice) })
    expect(notices).toEqual([`test: ${what} changed, so all rows are written again`])
    expect(chain.received.length - requestsBefore).toBe(job.wallets.length)
    await expectSameAsFresh(changed)
    expect((await runOnce(changed))?.state).toBe('unchanged')
  },
)

test('every run reports removed wallets', async () => {
  const chain = await growingChain(100)
  const job = headJob(chain.url)
  await runOnce(job)
  const notices: string[] = []
  await runOnce({ ...job, wallets: job.wallets.slice(1) }, { onNotice: (notice) => notices.push(notice) })
  expect(notices).toEqual([
    `test: wallet ${job.wallets[0]?.address} is no longer in the job; its rows up to block 100 are retained`,
  ])
})

test('continues an export from its manifest if the checkpoint is lost', { tags: ['long'] }, async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url, { count: 12, keepRaw: true })
  await chain.advance(150)
  await runOnce(job)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  await chain.advance(100)
  const requestsBefore = chain.received.length
  await runOnce(job)
  expect(chain.received.length - requestsBefore).toBeLessThanOrEqual(some.length * 2)
  await chain.advance(100)
  await runOnce(job)
  await expectSameAsFresh(job)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  const more = headJob(chain.url, { count: 14, keepRaw: true, output: job.output })
  await runOnce(more)
  await expectSameAsFresh(more)
})

test('a run interrupted at any request resumes to the same files', { tags: ['long'] }, async () => {
  const chain = await growingChain(BLOCKS_A_NIGHT)
  const job = headJob(chain.url, { count: 12 })
  await chain.advance(150)
  await runOnce(job)
  await chain.advance(150)
  await runInSteps(job, 3)
  await expectSameAsFresh(job)
})
