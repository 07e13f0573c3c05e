import { describe, expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { runOnce } from '../helpers/growing-chain.ts'
import { testJob } from '../helpers/jobs.ts'
import { runQueued } from '../helpers/queued-runs.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { createSeededRandom } from '../helpers/seeded-random.ts'
import { noRedis, type TestServer, testServer } from '../helpers/shared-servers.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { type CatchingUpApi, type Indexed, inTurn, startCatchingUp, walletAt } from './catching-up.ts'

const WALLETS = 40
const HOUR = 3_600_000

const addresses = Array.from({ length: WALLETS }, (_, at) => walletAt(at))

async function start(indexed: Indexed, api: CatchingUpApi = 'data-api', fields: Partial<Job> = {}) {
  const { url, requests } = await startCatchingUp(indexed, api)
  const service = { baseUrl: url, api }
  const finalityMs = api === 'data-api' ? 0 : 600_000
  const common = { endBlock: undefined, concurrency: 4, finalityMs, output: tempFolder() }
  const { wallets: _, ...rest } = { wallets: undefined, ...fields }
  return { requests, job: testJob({ addresses, service, ...common, ...rest }) }
}

/** The number of rows within the coverage of their wallets that tables of an export lack. */
async function missingIn(
  job: Job,
  { transfers, headAfter }: Indexed,
  head = headAfter(Number.MAX_SAFE_INTEGER),
) {
  const ends = new Map(readManifest(job.output).coverage.map(({ address, toBlock }) => [address, toBlock]))
  const claimed = transfers.filter(({ block, to }) => block < (ends.get(to) ?? 0) && block <= head)
  const isExplorer = job.service.api !== 'data-api'
  let missing = 0
  for (const table of isExplorer
    ? (['transactions', 'erc20_transfers'] as const)
    : (['transactions'] as const)) {
    const blocks = await blocksIn(job, table)
    missing += claimed.filter(({ block }) => !blocks.has(block)).length
  }
  return missing
}

const blocksIn = async (job: Job, table: 'transactions' | 'erc20_transfers') =>
  new Set((await readCsvTable(job.output, table)).map((row) => Number(row.block_number)))

const rowsOf = async (job: Job) => (await readCsvTable(job.output, 'transactions')).length

for (const api of ['data-api', 'etherscan'] as const) {
  const tags = api === 'data-api' ? [] : ['long']
  test(`an index that catches up while a run reads loses nothing: ${api}`, { tags }, async () => {
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
    await expectValid(job.output)
  })
}

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
  await expectValid(two.output)
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

const KINDS = [
  'catching up',
  'an older replica',
  'a listing behind',
  'a clock ahead',
  'a clock behind',
] as const
/** Kinds that may lack rows of the last minutes until a later run reads them again. */
const LATE: readonly Round['kind'][] = ['an older replica', 'a listing behind']
const APIS = ['data-api', 'etherscan', 'blockscout'] as const
type Round = {
  kind: (typeof KINDS)[number]
  api: CatchingUpApi
  seed: number
  server?: TestServer | undefined
}

/**
 * Some nights of a service whose indexed head moves while a run reads, then nights without a change. Nothing may be missing
 * within the coverage, unless an answer or a listing is of a state of the last minutes, and nothing at all in the end.
 */
async function checkRound({ kind, api, seed, server }: Round): Promise<void> {
  const random = createSeededRandom(seed)
  const wallets = random.between(2, 12)
  const blockMs = random.pick([100, 250, 2_000, 12_000])
  const blocks = 240
  const transfers = inTurn(blocks, { wallets, startMs: Date.now() - 26 * HOUR, blockMs })
  let [first, last] = [random.between(1, 120), random.between(1, 120)]
  let head = 0
  const lag = Math.min(30, Math.floor((5 * MINUTE) / blockMs))
  const indexed: Indexed = {
    transfers,
    // What is indexed stays indexed; only an older replica answers with a state of before.
    headAfter: (answers) => {
      head = Math.max(head, Math.min(last, first + answers * random.between(0, 40)))
      return kind === 'an older replica' && random.next() < 0.3 ? head - lag : head
    },
    aheadSeconds: kind === 'a clock ahead' ? -3_600 : kind === 'a clock behind' ? 3_600 : 0,
    tokensBehind: kind === 'a listing behind' ? lag : 0,
  }
  // A queue takes jobs with an end, which the index reaches in the last nights.
  const queued = { endBlock: blocks + 1, partitionBy: 'blocks:90' } as const
  const { job } = await start(indexed, api, {
    concurrency: random.between(1, 8),
    ...(server === undefined ? {} : queued),
  })
  const some = { ...job, wallets: job.wallets.slice(0, wallets) }
  const runNight = () => (server === undefined ? run([some]) : runQueued(server.url, some))
  for (let night = 0; night < 3; night += 1) {
    await runNight()
    if (!LATE.includes(kind))
      expect({ seed, night, missing: await missingIn(some, indexed, last) }).toEqual({
        seed,
        night,
        missing: 0,
      })
    ;[first, last] = [last, Math.min(blocks, last + random.between(0, 90))]
  }
  ;[first, last] = [blocks, blocks]
  indexed.headAfter = () => blocks
  indexed.tokensBehind = 0
  await runNight()
  expect(await runNight()).toMatchObject({ code: undefined })
  expect({ seed, rows: await rowsOf(some) }).toEqual({ seed, rows: blocks })
  if (api !== 'data-api') expect((await blocksIn(some, 'erc20_transfers')).size).toBe(blocks)
  await expectValid(some.output)
}

const rounds = (seeds: readonly number[]): Round[] =>
  KINDS.flatMap((kind) => APIS.flatMap((api) => seeds.map((seed) => ({ kind, api, seed })))).filter(
    // The Data API has one listing.
    ({ kind, api }) => kind !== 'a listing behind' || api !== 'data-api',
  )

// Each kind with one API, and each API with at least one kind.
const isShort = ({ kind, api }: Round) => api === APIS[KINDS.indexOf(kind) % APIS.length]
test.for(rounds([1]).filter(isShort))('nothing is lost with $kind, $api', checkRound)

/** Seeds of each kind; more with this variable. */
const SEEDS = Number(process.env.SOAK_SEEDS ?? 1)
const seeds = Array.from({ length: SEEDS }, (_, at) => 100 + at)

test.for(rounds(seeds))('nothing is lost with $kind, $api, seed $seed', { tags: ['long'] }, checkRound)

describe.skipIf(noRedis)('over a queue', { tags: ['long'] }, () => {
  const server = testServer()

  // A job with an end is complete once its last block is indexed: later runs do not read that block again.
  const ended = ({ kind }: Round) => !LATE.includes(kind)
  test.for(rounds(seeds.slice(0, Math.ceil(SEEDS / 3))).filter((round) => isShort(round) && ended(round)))(
    'nothing is lost with $kind, $api, seed $seed',
    (round) => checkRound({ ...round, server }),
  )
})
