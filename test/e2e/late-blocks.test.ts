import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import {
  expectSameAsFresh,
  forked,
  growingChain,
  headJob,
  rowsIn,
  runOnce,
  withoutBlocks,
} from '../helpers/growing-chain.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'

const HEAD = 200

/** Runs a job for the first time while the service does not list the `late` blocks yet. */
async function firstNight(late: readonly number[] = []) {
  const chain = await growingChain(HEAD)
  const job = headJob(chain.url)
  chain.listing.view = withoutBlocks(...late)
  await runOnce(job)
  chain.listing.view = (items) => items
  return { chain, job }
}

test('the next run exports items of the last blocks that the service listed late', async () => {
  const { job } = await firstNight([HEAD - 1, HEAD - 3, HEAD - 20])
  const { transactions } = await rowsIn(job.output)
  await runOnce(job)
  expect((await rowsIn(job.output)).transactions.length).toBeGreaterThan(transactions.length + 2)
  await expectSameAsFresh(job)
})

test('a run with nothing new sends one request per wallet, and the next one keeps the earlier files', async () => {
  const { chain, job } = await firstNight()
  // The second run claims for every wallet what the first one has proven.
  await runOnce(job)
  const before = outputBytes(job.output)
  const received = chain.received.length
  expect((await runOnce(job))?.state).toBe('unchanged')
  expect(outputBytes(job.output)).toEqual(before)
  expect(chain.received.length - received).toBe(job.wallets.length)
  await chain.advance(5)
  await runOnce(job)
  const [first] = readManifest(job.output).tables.ledger?.files ?? []
  expect([first?.fromBlock, first?.sha256]).toEqual([0, before[first?.path ?? '']])
  await expectSameAsFresh(job)
})

test('changed names and prices do not cause files to be rewritten', async () => {
  const { chain, job } = await firstNight()
  await runOnce(job)
  const before = readFileSync(join(job.output, 'manifest.json'), 'utf8')
  chain.listing.view = (items) =>
    items.map((item) => {
      const { nativeTransaction: native } = item
      const from = { ...(native.from as object), name: 'renamed' }
      return { ...item, nativeTransaction: { ...native, from } }
    })
  expect((await runOnce(job))?.state).toBe('unchanged')
  expect(readFileSync(join(job.output, 'manifest.json'), 'utf8')).toBe(before)
})

test('--lookback 0 requests no blocks of earlier runs', async () => {
  const { chain, job } = await firstNight()
  // The second run claims for every wallet what the first one has proven.
  await runOnce(job)
  chain.listing.view = forked(HEAD - 1)
  expect((await runOnce(job, { lookbackBlocks: 0 }))?.state).toBe('unchanged')
})

test.for([
  { given: undefined, words: `blocks ${HEAD - 31} to ${HEAD} are not read again` },
  { given: 100, words: `blocks ${HEAD - 99} to ${HEAD} are not read again` },
])(
  'without pages of earlier runs, a run reports the blocks that it cannot read again: $given',
  async ({ given, words }) => {
    const { job } = await firstNight()
    rmSync(join(job.output, '.walletlake'), { recursive: true })
    const notices: string[] = []
    await run([job], { onNotice: (notice) => notices.push(notice), ...(given && { lookbackBlocks: given }) })
    expect(notices.join('\n')).toContain(words)
    expect(notices.join('\n')).toContain('pages of earlier runs are gone')
  },
)

test('a resumed run reports that the interrupted run started with a smaller lookback', {
  tags: ['long'],
}, async () => {
  const { chain, job } = await firstNight()
  await chain.advance(60)
  await run([job], { maxRequests: 3 })
  const notices: string[] = []
  await run([job], { lookbackBlocks: 100, onNotice: (notice) => notices.push(notice) })
  expect(notices.join('\n')).toContain('an unfinished run was begun without them')
  await expectSameAsFresh(job)
})
