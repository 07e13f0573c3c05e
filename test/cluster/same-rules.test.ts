import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { runQueued } from '../helpers/queued-runs.ts'
import { readManifest } from '../helpers/read-output.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import {
  ALICE,
  BOB,
  CAROL,
  type SmallListing,
  startSmallListing,
  transfersTo,
} from '../helpers/small-listing.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

describe.skipIf(noRedis)('a queue run follows the rules of a run on one machine', { tags: ['long'] }, () => {
  const server = testServer()
  beforeEach(() => server.flush())

  async function start(content: SmallListing['listing'], given: Partial<Job> = {}) {
    const listing = await startSmallListing(content)
    const service = { baseUrl: listing.url }
    const range = { startBlock: 1_000, endBlock: 2_000, partitionBy: 'blocks:100' as const }
    const folder = tempFolder()
    const jobOf = (name: string): Job =>
      testJob({ addresses: [ALICE, BOB, CAROL], service, ...range, ...given, output: join(folder, name) })
    return { listing, many: jobOf('many'), alone: jobOf('alone') }
  }

  /** All files. A queue run reads everything again, so that it may claim less coverage than a run that continues. */
  function filesOf(output: string) {
    const { coverage, completeToBlock: _, ...rest } = readManifest(output)
    const claims = coverage.map(({ toBlock: _toBlock, ...wallet }) => wallet)
    return { ...outputBytes(output), 'manifest.json': { ...rest, coverage: claims } }
  }

  /** Runs both jobs, one over the queue and one on one machine, and expects the same result. */
  async function expectSame(many: Job, alone: Job) {
    const queued = await runQueued(server.url, many)
    const plain = await run([alone])
    const endOf = ({ code, jobs: [job] }: Awaited<ReturnType<typeof run>>) => {
      const { endBlock, refused, rejects, totalRows } = job?.stats ?? {}
      return { code, state: job?.state, endBlock, refused, rejects, totalRows }
    }
    expect(endOf(queued)).toEqual(endOf(plain))
    expect(filesOf(many.output)).toEqual(filesOf(alone.output))
    await expectValid(many.output)
    return queued
  }

  const ofAlice = (count: number) => [...transfersTo(ALICE, count), ...transfersTo(BOB, 30, { from: 1_100 })]

  test.for(['blocks:100', 'month'] as const)(
    'an endBlock that the chain has not reached is not final, and later runs continue: %s',
    async (partitionBy) => {
      const { listing, many, alone } = await start({ transfers: ofAlice(250) }, { partitionBy })
      const first = await expectSame(many, alone)
      expect([first.state, first.figures?.endBlock]).toEqual(['complete', 1_250])
      listing.listing.transfers = ofAlice(400)
      expect((await runQueued(server.url, many)).figures?.endBlock).toBe(1_400)
      expect(readManifest(many.output).tables.transactions?.rows).toBe(430)
      // A run on one machine continues from there as well.
      listing.listing.transfers = ofAlice(500)
      expect((await run([many])).jobs[0]?.stats.endBlock).toBe(1_500)
      listing.listing.transfers = ofAlice(1_100)
      const last = await runQueued(server.url, many)
      expect([last.state, last.figures?.endBlock]).toEqual(['complete', 2_000])
      const before = listing.requests.length
      expect((await runQueued(server.url, many)).state).toBe('unchanged')
      expect(listing.requests.length).toBe(before)
      expect(readManifest(many.output).tables.transactions?.rows).toBe(1_030)
      await expectValid(many.output)
    },
  )

  test('both listings of a wallet are read', async () => {
    const { url } = await startLoopback(createDataService({ quirks: ['no-internal-receipts'] }))
    const service = { baseUrl: url }
    const given = { internals: 'full', fees: 'listed', partitionBy: 'blocks:100', service } as const
    // The receiver of internal transactions that no other wallet sees.
    const addresses = ['0x48a0b31dd707cfb02cbc8706fe88c676630a796b', demoWallets[1] ?? '']
    const [many, alone] = [tempFolder(), tempFolder()].map((output) =>
      testJob({ ...given, addresses, output }),
    )
    const { figures } = await expectSame(many as Job, alone as Job)
    expect(figures?.totalRows.internal_transactions).toBeGreaterThan(90)
  })

  test('a chain that has not reached the first block yields an empty export', async () => {
    const { many, alone } = await start({ transfers: [] })
    expect((await expectSame(many, alone)).figures?.endBlock).toBe(1_000)
  })

  test('tables that a job gains are added, and their rows are listed', async () => {
    const { many, alone } = await start({ transfers: ofAlice(40) })
    const few = { tables: ['wallet_transactions'] as const }
    await expectSame({ ...many, ...few }, { ...alone, ...few })
    const { figures } = await expectSame(many, alone)
    expect(figures?.changes?.added).toMatchObject({ transactions: 70, wallet_transactions: 0 })
    expect(Object.keys(outputBytes(many.output))).toContainEqual(expect.stringMatching(/^changes\//))
  })

  test('the last block is requested once if the service has it', async () => {
    const { many, alone, listing } = await start({ transfers: ofAlice(20), head: 9_999 })
    expect((await runQueued(server.url, many)).figures?.endBlock).toBe(2_000)
    expect(listing.requests.filter(({ path }) => path.includes('/blocks/')).length).toBe(1)
    await run([alone])
    expect(outputBytes(many.output)).toEqual(outputBytes(alone.output))
  })

  test('young blocks count if the service shows them before the first wallet is read', async () => {
    const young = { startMs: Date.now() - 2_000 }
    const transfers = [
      ...ofAlice(250),
      ...transfersTo(BOB, 1, { ...young, from: 1_450 }),
      ...transfersTo(CAROL, 1, { ...young, from: 1_999 }),
    ]
    const { many, alone } = await start({ transfers, head: 2_000 })
    expect((await expectSame(many, alone)).figures?.endBlock).toBe(2_000)
  })

  test.for([
    { status: 404, wallets: [BOB], head: 9_999 },
    { status: 403, wallets: [ALICE, CAROL], head: 9_999 },
    { status: 400, wallets: [ALICE], head: undefined },
  ])(
    'wallets that the service refuses do not prevent the export of others: $status',
    async ({ status, wallets, head }) => {
      const transfers = [...ofAlice(250), ...transfersTo(CAROL, 150, { from: 1_300 })]
      const { listing, many, alone } = await start({ transfers, ...(head && { head }) })
      for (const wallet of wallets) listing.refused.set(wallet, status)
      const first = await expectSame(many, alone)
      expect([first.code, first.state]).toEqual(['WALLETS_REFUSED', 'incomplete'])
      expect(first.figures?.refused.map(({ address }) => address)).toEqual(wallets)
      listing.refused.clear()
      const next = await runQueued(server.url, many)
      expect([next.code, next.figures?.refused]).toEqual([undefined, []])
      const [fresh] = [{ ...alone, output: tempFolder() }]
      await run([fresh])
      expect(readManifest(many.output)).toEqual(readManifest(fresh.output))
    },
  )

  test('removed wallets may be refused, too', async () => {
    const { listing, many, alone } = await start({ transfers: ofAlice(250), head: 9_999 })
    await expectSame(many, alone)
    const less = (job: Job) => ({ ...job, wallets: job.wallets.slice(0, 1) })
    listing.refused.set(BOB, 404)
    await expectSame(less(many), less(alone))
  })

  test.for([404, 403])('a service that refuses every wallet fails the run: %s', async (status) => {
    const { listing, many, alone } = await start({ transfers: ofAlice(20) })
    for (const wallet of [ALICE, BOB, CAROL]) listing.refused.set(wallet, status)
    const queued = await runQueued(server.url, many)
    const plain = await run([alone])
    expect([queued.code, queued.state]).toEqual([plain.code, 'failed'])
    expect(outputBytes(many.output)).toEqual({})
    listing.refused.clear()
    await expectSame(many, alone)
  })
})
