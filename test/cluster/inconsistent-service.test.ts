import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runOverQueue } from '../../src/cluster/run-over-queue.ts'
import { work } from '../../src/cluster/work.ts'
import type { Job } from '../../src/core/model.ts'
import { run } from '../../src/run/run.ts'
import { verifyOutput } from '../../src/verify/verify-output.ts'
import { testJob } from '../helpers/jobs.ts'
import {
  addressOf,
  type MadeItem,
  madeErc20,
  madeErc721,
  madeItem,
  payment,
  startMadeChain,
} from '../helpers/made-chain.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'
import { noRedis, startTestServer, type TestServer } from '../helpers/shared-servers.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Machines that share their cores with other work. */
const LONG = { timeout: 300_000 }
const [ALICE, BOB] = [addressOf('one'), addressOf('two')].sort() as [string, string]
/** A payment in each of the ten partitions. */
const payments = Array.from({ length: 10 }, (_, at) => payment(1 + 100 * at, ALICE, BOB))

describe.skipIf(noRedis)('a run over a queue', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.stop())
  beforeEach(() => server.empty())

  /** Runs a job with one worker, into a folder. */
  async function runQueued(job: Job) {
    const stop = new AbortController()
    const queue = { url: server.url }
    const options = { queue, signal: stop.signal, concurrency: 2, shutdownMs: 60_000, onNotice: () => {} }
    const worker = work(options)
    try {
      const result = await runOverQueue([job], { queue })
      return { code: result.code, error: result.jobs[0]?.error, figures: result.jobs[0]?.figures }
    } finally {
      stop.abort()
      await worker
    }
  }

  function jobOf(url: string, name: string, folder = tempFolder()): Job {
    const service = { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }
    const range = { startBlock: 1000, endBlock: 2000, partitionBy: 'blocks:100' as const }
    return testJob({ addresses: [ALICE, BOB], service, ...range, output: join(folder, name) })
  }

  /** Shows the transaction in these blocks, to each wallet's first requests and to later ones. */
  async function chainWith(blockOf: (wallet: string, asked: number) => number) {
    const chain = await startMadeChain(payments)
    const asked = new Map<string, number>()
    chain.shown.items = (wallet) => {
      const count = (asked.get(wallet) ?? 0) + 1
      asked.set(wallet, count)
      return [...payments, payment(5, ALICE, BOB, { block: blockOf(wallet, count) })]
    }
    return chain
  }

  test('reads a transaction again that a reorganisation moved to another partition', LONG, async () => {
    const chain = await chainWith((wallet, asked) => (wallet === ALICE && asked === 1 ? 1205 : 1705))
    const many = jobOf(chain.url, 'many')
    const { code, figures } = await runQueued(many)
    expect(code).toBeUndefined()
    expect(figures?.rows.transactions).toBe(payments.length + 1)
    expect((await verifyOutput(many.output)).problems).toEqual([])
    const alone = jobOf(chain.url, 'alone')
    await run([alone])
    expect(outputBytes(many.output)).toEqual(outputBytes(alone.output))
  })

  test('publishes nothing where the service keeps a transaction in two partitions', LONG, async () => {
    const chain = await chainWith((wallet) => (wallet === ALICE ? 1205 : 1705))
    const many = jobOf(chain.url, 'many')
    const { error, code } = await runQueued(many)
    expect([code, error?.message]).toEqual([
      'UNITS_FAILED',
      expect.stringContaining('still places 1 transaction in several blocks'),
    ])
    expect(outputBytes(many.output)).toEqual({})
  })

  test('publishes nothing where partitions hold transactions of several chains', LONG, async () => {
    const another = payment(901, ALICE, BOB, { chainId: '1' })
    const { url } = await startMadeChain([...payments.slice(0, 9), another])
    const chain = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q6'
    const many = { ...jobOf(url, 'many'), chain }
    const { error, code } = await runQueued(many)
    expect([code, error?.message]).toEqual([
      'PAGE_MALFORMED',
      expect.stringContaining('transactions of several chains: "1", "43114"'),
    ])
    expect(outputBytes(many.output)).toEqual({})
  })

  test('counts what is unknown, rejected, repeated and contradicted as one machine does', LONG, async () => {
    const other = addressOf('other')
    const twoLists = {
      erc20Transfers: [madeErc20(3, other, ALICE)],
      erc721Transfers: [madeErc721(3, other, ALICE)],
    }
    const from = { from: { address: ALICE } }
    const odd: MadeItem[] = [
      madeItem(11, { ...from, txStatus: 'perhaps' }),
      madeItem(112, { ...from, txStatus: '' }),
      madeItem(213, { ...from, gasPrice: '' }),
      madeItem(314, { ...from, value: 'much' }),
      madeItem(415, { ...from, blockIndex: -1 }),
      madeItem(516, {}, twoLists),
      madeItem(617, {}, twoLists),
    ]
    const chain = await startMadeChain(payments)
    chain.shown.items = (wallet) => [
      ...payments,
      ...odd,
      payment(718, ALICE, BOB, { gasUsed: wallet === ALICE ? '21000' : '21001' }),
    ]
    const [many, alone] = [jobOf(chain.url, 'many'), jobOf(chain.url, 'alone')]
    const queued = await runQueued(many)
    const plain = await run([alone])
    expect(queued.code).toBe(plain.code)
    expect(outputBytes(many.output)).toEqual(outputBytes(alone.output))
    const countsOf = (figures: typeof queued.figures) => {
      const { rejects, statusUnknown, feeUnknown, repeatedLogs, contradicted } = figures ?? {}
      return { rejects, statusUnknown, feeUnknown, repeatedLogs, contradicted }
    }
    expect(countsOf(queued.figures)).toEqual(countsOf(plain.jobs[0]?.figures))
    expect(countsOf(queued.figures)).toEqual({
      ...{ rejects: 2, statusUnknown: 2, feeUnknown: 1, repeatedLogs: 2 },
      contradicted: { found: 1, unresolved: 1 },
    })
    expect(readManifest(many.output)).toMatchObject({ rejects: 2, statusUnknown: 2, feeUnknown: 1 })
  })
})
