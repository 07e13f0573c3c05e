import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { inspectJobOutput } from '../../src/export/inspect-output.ts'
import { run } from '../../src/export/run.ts'
import { summaryText } from '../../src/terminal/summary.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { testJob } from '../helpers/jobs.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { ALICE, BOB, type SmallListing, startSmallListing, transfersTo } from '../helpers/small-listing.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

async function start(content: SmallListing['listing'], addresses = [ALICE]) {
  const listing = await startSmallListing(content)
  const service = { baseUrl: listing.url }
  return { listing, job: testJob({ addresses, output: tempFolder(), endBlock: 1_500, service }) }
}

async function runOnce(job: Job, listing: SmallListing) {
  const before = listing.requests.length
  const { code, jobs } = await run([job])
  const summary = summaryText(jobs, { now: Date.now(), programName: 'walletlake' })
  const requests = listing.requests.slice(before).map(({ path, query }) => ({
    path: path.split('/').slice(4, 5).join(),
    from: Number(query.get('startBlock')),
    to: Number(query.get('endBlock')),
  }))
  return { code, state: jobs[0]?.state, summary, requests }
}

const rowsOf = async (job: Job) => (await readCsvTable(job.output, 'transactions')).length

test('if the chain has not reached endBlock, the export is not final and later runs continue it', {
  tags: ['long'],
}, async () => {
  const { listing, job } = await start({ transfers: transfersTo(ALICE, 250) })
  const first = await runOnce(job, listing)
  expect(first.code).toBeUndefined()
  expect(first.summary).toContain(
    'not final: endBlock is 1500, and every wallet is complete up to block 1249',
  )
  expect(readManifest(job.output).coverage[0]).toMatchObject({ toBlock: 1_250, transactions: 250 })
  expect((await inspectJobOutput(job)).state).toBe('exported')
  await expectValid(job.output)

  listing.listing.transfers = transfersTo(ALICE, 400)
  const second = await runOnce(job, listing)
  expect([await rowsOf(job), second.summary.includes('not final')]).toEqual([400, true])

  listing.listing.transfers = transfersTo(ALICE, 900)
  const third = await runOnce(job, listing)
  expect([third.state, third.summary.includes('not final'), await rowsOf(job)]).toEqual([
    'complete',
    false,
    500,
  ])
  expect(readManifest(job.output).coverage[0]).toMatchObject({ toBlock: 1_500 })
  expect((await inspectJobOutput(job)).state).toBe('complete')
  await expectValid(job.output)
  expect(await runOnce(job, listing)).toMatchObject({ state: 'unchanged', requests: [] })
})

test('an endBlock that is indexed before the first wallet is read is final, however young its block is', async () => {
  const young = { startMs: Date.now() - 20 * 60_000, from: 1_000 }
  const transfers = [ALICE, BOB].flatMap((wallet) => transfersTo(wallet, 600, young))
  const { listing, job } = await start({ transfers, head: 1_599 }, [ALICE, BOB])
  const { state, summary, requests } = await runOnce(job, listing)
  expect([state, summary.includes('not final'), requests[0]?.path]).toEqual(['complete', false, 'blocks'])
  const whole = { toBlock: 1_500, transactions: 500 }
  expect(readManifest(job.output)).toMatchObject({ coverage: [whole, whole], completeToBlock: 1_500 })
})

test('a run on an unchanged chain below endBlock writes no new files', async () => {
  const { listing, job } = await start({ transfers: transfersTo(ALICE, 250) })
  await runOnce(job, listing)
  const manifest = readManifest(job.output)
  const { state, summary } = await runOnce(job, listing)
  expect([state, summary.includes('not final')]).toEqual(['unchanged', true])
  expect(readManifest(job.output)).toEqual(manifest)
})

test('if the pages contain the last block, no further request follows them', async () => {
  const { listing, job } = await start({ transfers: transfersTo(ALICE, 100, { from: 1_400 }) })
  expect(await runOnce(job, listing)).toMatchObject({
    state: 'complete',
    requests: [{ path: 'blocks' }, { path: 'addresses' }],
  })
})

test('finding the last block takes one extra request, whatever the number of wallets', async () => {
  const { listing, job } = await start({ transfers: transfersTo(ALICE, 10), head: 9_999 }, [ALICE, BOB])
  const { state, summary, requests } = await runOnce(job, listing)
  expect([state, summary.includes('not final')]).toEqual(['complete', false])
  expect(requests.map(({ path }) => path).sort()).toEqual(['addresses', 'addresses', 'blocks'])
  expect(readManifest(job.output).coverage.map(({ toBlock }) => toBlock)).toEqual([1_500, 1_500])
})

test('if the block listing fails, the export is not final and the run does not fail', async () => {
  const { listing, job } = await start({ transfers: transfersTo(ALICE, 10), blockStatus: 500 })
  const { code, jobs } = await run([job], { retry: { retries: 0 } })
  expect([code, jobs[0]?.state]).toEqual([undefined, 'complete'])
  expect(readManifest(job.output).coverage[0]).toMatchObject({ toBlock: 1_010, transactions: 10 })
  listing.listing.head = 9_999
  expect((await runOnce(job, listing)).summary).not.toContain('not final')
  expect(readManifest(job.output).coverage[0]).toMatchObject({ toBlock: 1_500 })
})

test('a transaction of a wallet beyond endBlock proves that the chain has passed it', async () => {
  const transfers = [...transfersTo(ALICE, 10), ...transfersTo(ALICE, 1, { from: 7_000 })]
  const { listing, job } = await start({ transfers })
  const { state, summary } = await runOnce(job, listing)
  expect([state, summary.includes('not final'), await rowsOf(job)]).toEqual(['complete', false, 10])
})

test('a reorg below endBlock is picked up until the chain has passed it', async () => {
  const { listing, job } = await start({ transfers: transfersTo(ALICE, 250) })
  await runOnce(job, listing)
  listing.listing.transfers = transfersTo(ALICE, 900).filter(({ block }) => block !== 1_240)
  await runOnce(job, listing)
  expect(await rowsOf(job)).toBe(499)
  await expectValid(job.output)
})

test('blocks produced while wallets are read are left to the next run without a gap', async () => {
  const old = transfersTo(ALICE, 50)
  const grown = (startMs: number) => [
    ...old,
    ...transfersTo(ALICE, 1, { from: 1_300, startMs }),
    ...transfersTo(BOB, 1, { from: 1_400, startMs }),
  ]
  let requests = 0
  const content: SmallListing['listing'] = {
    get transfers() {
      requests += 1
      return requests <= 1 ? old : grown(Date.now())
    },
  }
  const { listing, job } = await start(content, [ALICE, BOB])
  const first = await runOnce({ ...job, concurrency: 1 }, listing)
  expect(readManifest(job.output).coverage.map(({ toBlock }) => toBlock)).toEqual([1_050, 1_401])
  expect(first.summary).toContain('not final')

  const later = { transfers: grown(1_700_000_000_000 + 600_000) }
  Object.defineProperty(listing.listing, 'transfers', { value: later.transfers })
  await runOnce(job, listing)
  expect(readManifest(job.output).coverage.map(({ toBlock }) => toBlock)).toEqual([1_401, 1_401])
  expect(await rowsOf(job)).toBe(52)
  await expectValid(job.output)
})

test('if the service shows endBlock only after wallets were read, what they may lack is read once more', async () => {
  let answers = 0
  const content: SmallListing['listing'] = {
    get transfers() {
      answers += 1
      return answers === 1
        ? transfersTo(ALICE, 10)
        : [...transfersTo(ALICE, 20), ...transfersTo(BOB, 1, { from: 1_499 })]
    },
  }
  const { listing, job } = await start(content, [ALICE, BOB])
  const { state, summary } = await runOnce({ ...job, concurrency: 1 }, listing)
  expect([state, summary.includes('not final'), await rowsOf(job)]).toEqual(['complete', false, 21])
})

test('a finished export without its private folder sends no request', async () => {
  const { listing, job } = await start({ transfers: transfersTo(ALICE, 1_600) })
  await runOnce(job, listing)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  expect(await runOnce(job, listing)).toMatchObject({ state: 'unchanged', requests: [] })
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  const other = { ...job, wallets: testJob({ addresses: [ALICE, BOB] }).wallets }
  expect((await runOnce(other, listing)).requests).not.toEqual([])
})
