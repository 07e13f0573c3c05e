import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { type Indexed, inTurn, startCatchingUp, walletAt } from '../helpers/catching-up.ts'
import { runOnce } from '../helpers/growing-chain.ts'
import { testJob } from '../helpers/jobs.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const WALLETS = 40
const HOUR = 3_600_000

const addresses = Array.from({ length: WALLETS }, (_, at) => walletAt(at))

async function start(
  indexed: Indexed,
  api: 'data-api' | 'etherscan' = 'data-api',
  fields: Partial<Job> = {},
) {
  const { url, requests } = await startCatchingUp(indexed, api)
  const service = { baseUrl: url, api, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }
  const finalityMs = api === 'etherscan' ? 600_000 : 0
  const common = { endBlock: undefined, concurrency: 4, finalityMs, output: tempFolder() }
  const { wallets: _, ...rest } = { wallets: undefined, ...fields }
  return { requests, job: testJob({ addresses, service, ...common, ...rest }) }
}

/** The blocks within the coverage of their wallets that an export lacks. */
async function missingIn(
  job: Job,
  { transfers, headAfter }: Indexed,
  head = headAfter(Number.MAX_SAFE_INTEGER),
) {
  const blocks = new Set(
    (await readCsvTable(job.output, 'transactions')).map((row) => Number(row.block_number)),
  )
  const ends = new Map(readManifest(job.output).coverage.map(({ address, toBlock }) => [address, toBlock]))
  const claimed = transfers.filter(({ block, to }) => block < (ends.get(to) ?? 0) && block <= head)
  return claimed.filter(({ block }) => !blocks.has(block)).length
}

const rowsOf = async (job: Job) => (await readCsvTable(job.output, 'transactions')).length

for (const api of ['data-api', 'etherscan'] as const)
  test(`an index that catches up while a run reads loses nothing: ${api}`, async () => {
    const transfers = inTurn(1_400, { wallets: WALLETS, startMs: Date.now() - 12 * HOUR, blockMs: 2_000 })
    const answers = api === 'etherscan' ? 5 * WALLETS : WALLETS
    const indexed = { transfers, headAfter: (n: number) => 700 + Math.min(700, (700 * n) / answers) }
    const { job } = await start(indexed, api)
    await runOnce(job)
    expect(await missingIn(job, indexed)).toBe(0)
    const { coverage, completeToBlock } = readManifest(job.output)
    expect(completeToBlock).toBe(Math.min(...coverage.map(({ toBlock }) => toBlock)))
    await runOnce(job)
    expect(await rowsOf(job)).toBe(1_400)
    await runOnce(job)
    expect(readManifest(job.output)).toMatchObject({ completeToBlock: 1_401 })
    expect([await rowsOf(job), await missingIn(job, indexed)]).toEqual([1_400, 0])
    expect((await verifyOutput(job.output)).problems).toEqual([])
  })

const MINUTE = 60_000

test.for([
  { blockMs: 100, agoBlocks: 5_000 },
  { blockMs: 2_000, agoBlocks: 280 },
  { blockMs: 12_000, agoBlocks: 30 },
])(
  'the lookback reaches back ten minutes and 32 blocks: blocks of $blockMs ms',
  async ({ blockMs, agoBlocks }) => {
    const all = inTurn(12_000, { wallets: 1, startMs: Date.now() - 50 * HOUR, blockMs }).filter(
      ({ block }) => block > 12_000 - 2 * agoBlocks && block % Math.ceil(agoBlocks / 50) === 0,
    )
    const late = all.find(({ block }) => block > 12_000 - agoBlocks)
    const indexed = { transfers: all.filter((one) => one !== late), headAfter: () => Number.MAX_SAFE_INTEGER }
    const { job } = await start(indexed, 'data-api', { concurrency: 1 })
    const single = { ...job, wallets: job.wallets.slice(0, 1) }
    await runOnce(single)
    indexed.transfers = all
    await runOnce(single, { lookbackBlocks: 0 })
    expect(await rowsOf(single)).toBe(all.length - 1)
    await runOnce(single)
    expect(await rowsOf(single)).toBe(all.length)
  },
)

test('a lookback of a time reads all blocks of that time again, and a lookback of 0 none', async () => {
  const all = inTurn(400, { wallets: 1, startMs: Date.now() - HOUR, blockMs: 6_000 })
  const indexed: Indexed = { transfers: all.filter(({ block }) => block !== 120), headAfter: () => 400 }
  const { job, requests } = await start(indexed, 'data-api')
  const single = { ...job, wallets: job.wallets.slice(0, 1) }
  await runOnce(single)
  indexed.transfers = all
  await runOnce(single)
  expect(await rowsOf(single)).toBe(399)
  await runOnce(single, { lookbackMs: 30 * MINUTE })
  expect(await rowsOf(single)).toBe(400)
  await runOnce(single, { lookbackBlocks: 0 })
  expect(requests.at(-1)?.query.get('startBlock')).toBe('401')
})

test('rows that one wrong answer lacks stay, and the run says so', async () => {
  const all = inTurn(100, { wallets: 2, startMs: Date.now() - HOUR, blockMs: 2_000 })
  const [first = '', second = ''] = addresses
  let answers = 0
  let isWrong = (_: number) => false
  const indexed: Indexed = {
    get transfers() {
      answers += 1
      return isWrong(answers) ? [] : all
    },
    headAfter: () => 100,
  }
  const { job } = await start(indexed, 'data-api', { concurrency: 1 })
  const two = { ...job, wallets: job.wallets.filter(({ address }) => [first, second].includes(address)) }
  await runOnce(two)
  answers = 0
  isWrong = (answer) => answer === 1
  expect((await run([two])).code).toBe('ANSWERS_DIFFER')
  expect(await rowsOf(two)).toBe(100)

  answers = 0
  isWrong = (answer) => answer === 1 || answer === 3
  expect((await run([two])).code).toBeUndefined()
  expect(await rowsOf(two)).toBeLessThan(100)
  expect(readManifest(two.output).completeToBlock).toBeLessThan(100)
  isWrong = () => false
  await runOnce(two)
  expect(await rowsOf(two)).toBe(100)
  expect((await verifyOutput(two.output)).problems).toEqual([])
})

test('finality is measured by the clock of the service if that is behind', async () => {
  const all = inTurn(600, { wallets: 1, startMs: Date.now() - HOUR - 20 * MINUTE, blockMs: 2_000 })
  const indexed: Indexed = { transfers: all, headAfter: () => 600, aheadSeconds: -3_600 }
  const { job } = await start(indexed, 'etherscan')
  const single = { ...job, wallets: job.wallets.slice(0, 1) }
  const { jobs } = await run([single])
  expect([jobs[0]?.error, jobs[0]?.stats.leftOut?.transactions]).toEqual([undefined, expect.closeTo(300, -1)])
  expect(await rowsOf(single)).toBeLessThan(320)
})
