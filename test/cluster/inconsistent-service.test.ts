import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { testJob } from '../helpers/jobs.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { runQueued } from '../helpers/queued-runs.ts'
import { readManifest } from '../helpers/read-output.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import {
  addressOf,
  payment,
  type SyntheticItem,
  startSyntheticChain,
  syntheticErc20,
  syntheticErc721,
  syntheticItem,
} from '../helpers/synthetic-chain.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const [ALICE, BOB] = [addressOf('one'), addressOf('two')].sort() as [string, string]
/** A payment in each of the ten partitions. */
const payments = Array.from({ length: 10 }, (_, at) => payment(1 + 100 * at, ALICE, BOB))

describe.skipIf(noRedis)('a queue run', { tags: ['long'] }, () => {
  const server = testServer()
  beforeEach(() => server.flush())

  function jobOf(url: string, name: string, folder = tempFolder()): Job {
    const service = { baseUrl: url }
    const range = { startBlock: 1000, endBlock: 2000, partitionBy: 'blocks:100' as const }
    return testJob({ addresses: [ALICE, BOB], service, ...range, output: join(folder, name) })
  }

  /**
   * Starts a chain that reports one more transaction in the block that `blockOf` returns for a wallet and the
   * number of its request.
   */
  async function chainWith(blockOf: (wallet: string, received: number) => number) {
    const chain = await startSyntheticChain(payments)
    const received = new Map<string, number>()
    chain.listing.items = (wallet) => {
      const count = (received.get(wallet) ?? 0) + 1
      received.set(wallet, count)
      return [...payments, payment(5, ALICE, BOB, { block: blockOf(wallet, count) })]
    }
    return chain
  }

  test('reads a transaction again that a reorg moved to another partition', async () => {
    const chain = await chainWith((wallet, received) => (wallet === ALICE && received === 1 ? 1205 : 1705))
    const many = jobOf(chain.url, 'many')
    const { code, figures: stats } = await runQueued(server.url, many)
    expect(code).toBeUndefined()
    expect(stats?.rows.transactions).toBe(payments.length + 1)
    await expectValid(many.output)
    const alone = jobOf(chain.url, 'alone')
    await run([alone])
    expect(outputBytes(many.output)).toEqual(outputBytes(alone.output))
  })

  test.for([{ partitionBy: 'blocks:100' }, { partitionBy: 'day' }] as const)(
    'exports a transaction that the service reports in two partitions as one machine does: %j',
    async (given) => {
      const chain = await chainWith((wallet) => (wallet === ALICE ? 1205 : 1705))
      const secondsOf = (block: number) => 1_700_000_000 + (block - 1000) * 864
      const items = chain.listing.items
      chain.listing.items = (wallet) =>
        items(wallet).map((item) => {
          const native = item.nativeTransaction
          return {
            ...item,
            nativeTransaction: { ...native, blockTimestamp: secondsOf(Number(native.blockNumber)) },
          }
        })
      const [many, alone] = ['many', 'alone'].map((name) => ({ ...jobOf(chain.url, name), ...given }))
      if (many === undefined || alone === undefined) throw new Error('no jobs')
      const notices: string[] = []
      const queued = await runQueued(server.url, many, { onNotice: (notice) => notices.push(notice) })
      const plain = await run([alone])
      expect([queued.code, queued.state]).toEqual([plain.code, 'complete'])
      expect(outputBytes(many.output)).toEqual(outputBytes(alone.output))
      expect(queued.figures?.contradicted).toEqual(plain.jobs[0]?.stats.contradicted)
      expect(notices.join('\n')).toContain(
        'the service reports 1 transaction in two partitions, even when read again',
      )
      await expectValid(many.output)
    },
  )

  test('publishes nothing if partitions contain transactions of several chains', async () => {
    const another = payment(901, ALICE, BOB, { chainId: '1' })
    const { url } = await startSyntheticChain([...payments.slice(0, 9), another])
    const chain = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q6'
    const many = { ...jobOf(url, 'many'), chain }
    const { error, code } = await runQueued(server.url, many)
    expect([code, error?.message]).toEqual([
      'PAGE_MALFORMED',
      expect.stringContaining('transactions of several chains: "1", "43114"'),
    ])
    expect(outputBytes(many.output)).toEqual({})
  })

  test('counts unknown, rejected, repeated and contradicting data as one machine does', async () => {
    const other = addressOf('other')
    const twoLists = {
      erc20Transfers: [syntheticErc20(3, other, ALICE)],
      erc721Transfers: [syntheticErc721(3, other, ALICE)],
    }
    const from = { from: { address: ALICE } }
    const odd: SyntheticItem[] = [
      syntheticItem(11, { ...from, txStatus: 'perhaps' }),
      syntheticItem(112, { ...from, txStatus: '' }),
      syntheticItem(213, { ...from, gasPrice: '' }),
      syntheticItem(314, { ...from, value: 'much' }),
      syntheticItem(415, { ...from, blockIndex: -1 }),
      syntheticItem(516, {}, twoLists),
      syntheticItem(617, {}, twoLists),
    ]
    const chain = await startSyntheticChain(payments)
    chain.listing.items = (wallet) => [
      ...payments,
      ...odd,
      payment(718, ALICE, BOB, { gasUsed: wallet === ALICE ? '21000' : '21001' }),
    ]
    const [many, alone] = [jobOf(chain.url, 'many'), jobOf(chain.url, 'alone')]
    const queued = await runQueued(server.url, many)
    const plain = await run([alone])
    expect(queued.code).toBe(plain.code)
    expect(outputBytes(many.output)).toEqual(outputBytes(alone.output))
    const countsOf = (stats: typeof queued.figures) => {
      const { rejects, statusUnknown, feeUnknown, repeatedLogs, contradicted } = stats ?? {}
      return { rejects, statusUnknown, feeUnknown, repeatedLogs, contradicted }
    }
    expect(countsOf(queued.figures)).toEqual(countsOf(plain.jobs[0]?.stats))
    expect(countsOf(queued.figures)).toEqual({
      rejects: 2,
      statusUnknown: 2,
      feeUnknown: 1,
      repeatedLogs: 2,
      contradicted: { found: 1, unresolved: 1 },
    })
    expect(readManifest(many.output)).toMatchObject({ rejects: 2, statusUnknown: 2, feeUnknown: 1 })
  })

  test('rejects times and places transactions of two partitions as one machine does', async () => {
    const chain = await startSyntheticChain(payments)
    const early = { block: 1250, blockTimestamp: 1_700_000_000 + 2 * 1_150 }
    chain.listing.items = (wallet) => [
      ...payments,
      payment(5, ALICE, BOB, wallet === ALICE ? early : { block: 1705 }),
    ]
    const [many, alone] = [jobOf(chain.url, 'many'), jobOf(chain.url, 'alone')]
    const queued = await runQueued(server.url, many)
    const plain = await run([alone])
    expect([queued.code, plain.code]).toEqual(['RECORDS_REJECTED', 'RECORDS_REJECTED'])
    expect(outputBytes(many.output)).toEqual(outputBytes(alone.output))
    await expectValid(many.output)
  })

  test('publishes nothing if the block times of two partitions contradict each other', async () => {
    const chain = await startSyntheticChain(payments)
    const early = { block: 1405, blockTimestamp: 1_700_000_000 + 2 * 1_105 }
    chain.listing.items = () => [...payments.filter((_, at) => at !== 4), payment(5, ALICE, BOB, early)]
    const [many, alone] = [jobOf(chain.url, 'many'), jobOf(chain.url, 'alone')]
    const { code, error } = await runQueued(server.url, many)
    expect(code).toBe('TASKS_FAILED')
    expect(error).toMatchObject({
      message: 'block times run backwards from blocks 1300 to 1399 to blocks 1400 to 1499',
      fix: expect.stringContaining('without --queue'),
    })
    expect(existsSync(join(many.output, 'manifest.json'))).toBe(false)
    expect((await run([alone])).code).toBe('RECORDS_REJECTED')
  })
})
