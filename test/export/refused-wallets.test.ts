import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { testJob } from '../helpers/jobs.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { ALICE, BOB, CAROL, startSmallListing, transfersTo } from '../helpers/small-listing.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const both = [...transfersTo(ALICE, 250), ...transfersTo(BOB, 30, { from: 1_100 })]

async function start(given: Partial<Omit<Job, 'wallets'>> & { addresses?: readonly string[] } = {}) {
  const listing = await startSmallListing({ transfers: both, head: 1_249 })
  const service = { baseUrl: listing.url }
  const job = testJob({
    addresses: [ALICE, BOB],
    output: tempFolder(),
    endBlock: undefined,
    service,
    ...given,
  })
  return { listing, job }
}

const wallets = async (job: Job) =>
  (await readCsvTable(job.output, 'wallet_transactions')).map(({ wallet_address }) => wallet_address)
const coverageOf = (job: Job, wallet: string) =>
  readManifest(job.output).coverage.find(({ address }) => address === wallet)

async function runOnce(job: Job) {
  const { code, jobs } = await run([job], { retry: { retries: 1, firstDelayMs: 1 } })
  const [one] = jobs
  if (one === undefined) throw new Error('no job ran')
  return { code, ...one }
}

testSample(
  1,
  [
    [400, undefined],
    [403, undefined],
    [404, undefined],
    [404, 1_250],
    [403, 1_250],
  ] as const,
  'a wallet that is refused with %i does not affect the others (endBlock %s), and a later run reads it',
  async ([status, endBlock]) => {
    const { listing, job } = await start({ endBlock })
    listing.refused.set(BOB, status)
    const first = await runOnce(job)
    expect([first.code, first.error, first.state]).toEqual(['WALLETS_REFUSED', undefined, 'incomplete'])
    const error = `the service answered ${status}: address not supported`
    expect(first.stats.refused).toEqual([{ address: BOB, error }])
    expect(coverageOf(job, BOB)).toMatchObject({ error, toBlock: 0, transactions: 0 })
    expect(coverageOf(job, ALICE)).toMatchObject({ toBlock: 1_250, transactions: 250 })
    expect(new Set(await wallets(job))).toEqual(new Set([ALICE]))
    await expectValid(job.output)
    expect((await runOnce(job)).code).toBe('WALLETS_REFUSED')
    listing.refused.clear()
    const before = listing.requests.length
    const later = await runOnce(job)
    expect([later.code, later.error]).toEqual([undefined, undefined])
    // Ten minutes of the first wallet, which are three pages, and the other wallet.
    expect(listing.requests.length - before).toBeLessThanOrEqual(4)
    expect((await wallets(job)).filter((wallet) => wallet === BOB)).toHaveLength(30)
    expect(coverageOf(job, BOB)).toEqual({ ...coverageOf(job, ALICE), address: BOB, transactions: 30 })
    await expectValid(job.output)
  },
)

test('a wallet that is refused later keeps its exported rows, and other wallets continue', async () => {
  const { listing, job } = await start()
  await runOnce(job)
  listing.refused.set(BOB, 404)
  listing.listing.transfers = [...both, ...transfersTo(ALICE, 50, { from: 1_250 })]
  expect((await runOnce(job)).code).toBe('WALLETS_REFUSED')
  expect(coverageOf(job, ALICE)).toMatchObject({ toBlock: 1_300, transactions: 300 })
  expect(coverageOf(job, BOB)).toMatchObject({ toBlock: 1_130, transactions: 30 })
  await expectValid(job.output)
  const before = outputBytes(job.output)
  expect((await runOnce(job)).code).toBe('WALLETS_REFUSED')
  expect(outputBytes(job.output)).toEqual(before)
  // A reorg in the lookback: its blocks are written again although a wallet is refused.
  listing.listing.transfers = listing.listing.transfers.filter(({ block }) => block !== 1_290)
  expect((await runOnce(job)).code).toBe('WALLETS_REFUSED')
  expect(coverageOf(job, ALICE)).toMatchObject({ transactions: 299 })
  await expectValid(job.output)
  listing.refused.clear()
  expect((await runOnce(job)).code).toBeUndefined()
  expect(coverageOf(job, BOB)).toMatchObject({ toBlock: 1_300, transactions: 30 })
})

test('a refused third wallet does not change the ledger of the others', async () => {
  const { listing, job } = await start({ addresses: [ALICE, BOB, `0x${'9'.repeat(40)}`] })
  listing.refused.set(`0x${'9'.repeat(40)}`, 403)
  expect((await runOnce(job)).code).toBe('WALLETS_REFUSED')
  const ledger = await readCsvTable(job.output, 'ledger')
  expect(new Set(ledger.map(({ wallet_address }) => wallet_address))).toEqual(new Set([ALICE, BOB]))
  await expectValid(job.output)
})

test('a wallet that is refused between its pages is covered up to the pages received', async () => {
  const { listing, job } = await start({ endBlock: 1_250, concurrency: 1 })
  let pages = 0
  const { transfers } = listing.listing
  Object.defineProperty(listing.listing, 'transfers', {
    get: () => {
      pages += 1
      if (pages === 2) listing.refused.set(ALICE, 404)
      return transfers
    },
  })
  expect((await runOnce(job)).code).toBe('WALLETS_REFUSED')
  const covered = coverageOf(job, ALICE)
  expect(covered?.transactions).toBe((covered?.toBlock ?? 0) - 1_000)
  expect(covered?.toBlock).toBeLessThan(1_250)
  expect(coverageOf(job, BOB)).toMatchObject({ toBlock: 1_250, transactions: 30 })
  await expectValid(job.output)
})

test.for([
  [400, 'REQUEST_REFUSED'],
  [403, 'KEY_REFUSED'],
  [404, 'REQUEST_REFUSED'],
] as const)('a job whose wallets are all refused with %i ends with %s', async ([status, code]) => {
  const { listing, job } = await start()
  for (const wallet of [ALICE, BOB]) listing.refused.set(wallet, status)
  expect(await runOnce(job)).toMatchObject({ code, state: 'failed' })
})

test('a 401 for one wallet ends the run even if other wallets were served', async () => {
  const { listing, job } = await start({ concurrency: 1 })
  listing.refused.set(BOB, 401)
  expect(await runOnce(job)).toMatchObject({ code: 'KEY_REFUSED', state: 'failed' })
})

test('a key that is revoked during a run fails the run instead of refusing wallets', async () => {
  const { listing, job } = await start({ addresses: [ALICE, BOB, CAROL], concurrency: 1 })

  const { transfers } = listing.listing
  Object.defineProperty(listing.listing, 'transfers', {
    get: () => {
      if (listing.requests.length >= 1)
        for (const wallet of [ALICE, BOB, CAROL]) listing.refused.set(wallet, 403)
      return transfers
    },
  })
  expect(await runOnce(job)).toMatchObject({ code: 'KEY_REFUSED', state: 'failed' })
})
