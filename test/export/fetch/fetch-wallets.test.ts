import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../../src/checkpoint/checkpoint.ts'
import { openCheckpoint } from '../../../src/checkpoint/open-checkpoint.ts'
import { listingsOf, UNBOUNDED } from '../../../src/core/model/listings.ts'
import { newRunStats } from '../../../src/core/model/run-stats.ts'
import { fetchWallets } from '../../../src/export/fetch/fetch-wallets.ts'
import { testJob } from '../../helpers/jobs.ts'
import {
  type ListingOptions,
  type SortedItem,
  sameSecondBlocks,
  sameSecondListing,
  TIE_ORDERS,
} from '../../helpers/same-second-listing.ts'
import { createSeededRandom, type SeededRandom } from '../../helpers/seeded-random.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { fakeRequester, type Query, type Reply } from '../../sources/data-api/pages/fake-requester.ts'
import { bodyOf, hashesIn, tiedItems } from '../../sources/data-api/pages/listing.ts'

/** More items than a second has, but small enough that readers share the range of a wallet. */
const PAGE_SIZE = 16
const BLOCKS = 2_400
/** An end block that is older than this is taken for indexed. */
const INDEX_LAG_MS = 600_000
const WALLETS = [1, 2, 3].map((at) => `0x${String(at).padStart(40, '0')}`)

type History = readonly SortedItem<object>[]
/** `isOld`: whether an item existed before the run began. */
type Chain = { histories: Map<string, History>; nowMs: number; isOld: (item: SortedItem) => boolean }

/**
 * Three wallets, the first of which has most items. The run begins in the middle of a second that is still
 * growing.
 */
function createChain(random: SeededRandom): Chain {
  const items = tiedItems(sameSecondBlocks({ blocks: BLOCKS, random, maxPerSecond: 3 }))
  const weights = [0.9, 0.1, 0.02]
  const histories = new Map(
    WALLETS.map((wallet, at) => [wallet, items.filter(() => random.next() < (weights[at] ?? 0))]),
  )
  const last = items[Math.floor(items.length * 0.95)]?.second ?? 0
  return { histories, nowMs: last * 1000 + 500, isOld: ({ second }) => second < last }
}

type Given = Pick<ListingOptions<object>, 'ties' | 'refused'> & {
  seed: number
  readers: number
  kills: number
}
type Run = { chain: Chain; given: Given; endBlock: number | undefined }

/**
 * The service. Each response takes some turns of the event loop, and each request adds one block after the run's
 * start.
 */
function serve({ chain, given }: Run, random: SeededRandom) {
  let requests = 0
  const listings = new Map(
    [...chain.histories].map(([wallet, history]) => {
      const first = history.findIndex((item) => !chain.isOld(item))
      const items = () => history.slice(0, first < 0 ? history.length : first + requests)
      return [wallet, sameSecondListing({ ...given, items, random, pageSize: PAGE_SIZE })]
    }),
  )
  return async ({ address, ...query }: Query): Promise<Reply> => {
    requests += 1
    for (let turns = random.between(0, 6); turns > 0; turns -= 1) await Promise.resolve()
    const page = listings.get(address)?.(query)
    return page === undefined ? { status: 400 } : { body: bodyOf(page.items, page.next) }
  }
}

/** A checkpoint that fails the test if a page covers a block of which not all items have been received. */
function watched(checkpoint: Checkpoint, { chain }: Run, received: Map<string, Set<string>>): Checkpoint {
  return {
    ...checkpoint,
    addPage: async (wallet, page) => {
      const hashes = received.get(wallet) ?? new Set()
      received.set(wallet, hashes)
      for (const hash of hashesIn(page.body)) hashes.add(hash)
      const location = await checkpoint.addPage(wallet, page)
      const { from, to } = page.covered
      const isLost = (item: SortedItem) =>
        chain.isOld(item) && item.block >= from && item.block < to && !hashes.has(item.hash)
      expect(chain.histories.get(wallet)?.filter(isLost)).toEqual([])
      return location
    },
  }
}

/** Fetches all wallets, is killed `kills` times on the way, and checks the final checkpoint. */
async function fetchAll(run: Run): Promise<void> {
  const { chain, given, endBlock } = run
  const folder = mkdtempSync(join(tempFolder(), 'fetch-'))
  const random = createSeededRandom(given.seed)
  const reply = serve(run, random)
  const job = testJob({ addresses: WALLETS, endBlock, concurrency: given.readers })
  const identity = { chain: job.chain, startBlock: 0, endBlock: endBlock ?? null, finalityMs: 0 }
  const received = new Map<string, Set<string>>()
  const now = chain.nowMs + (endBlock === undefined ? 0 : INDEX_LAG_MS)
  for (let kills = given.kills; kills >= 0; kills -= 1) {
    const stop = new AbortController()
    let left = kills === 0 ? Number.POSITIVE_INFINITY : random.between(1, 100)
    const counted = (query: Query) => {
      left -= 1
      if (left === 0) stop.abort(new Error('killed'))
      return reply(query)
    }
    const { requestContext } = fakeRequester(counted, stop.signal)
    const checkpoint = await openCheckpoint({ folder, identity, now, onDamage: () => {} })
    const context = {
      job,
      listings: listingsOf(job),
      requestContext,
      stats: newRunStats(WALLETS.length, 0),
      onPage: () => {},
      onNotice: () => {},
    }
    const end = await fetchWallets({ ...context, checkpoint: watched(checkpoint, run, received) }).catch(
      (thrown: unknown) => {
        if (!stop.signal.aborted) throw thrown
        return undefined
      },
    )
    if (end !== undefined) await expectComplete(run, checkpoint, end)
    await checkpoint.close()
  }
}

async function expectComplete({ chain, endBlock }: Run, checkpoint: Checkpoint, end: number): Promise<void> {
  const old = [...chain.histories.values()].flat().filter(chain.isOld)
  expect(end).toBe(endBlock ?? Math.max(...old.map(({ block }) => block)) + 1)
  for (const [wallet, history] of chain.histories) {
    expect(checkpoint.remaining(wallet)).toEqual([])
    const stored = new Set<string>()
    for (const { location } of checkpoint.records(new Map([[wallet, UNBOUNDED]])))
      for (const hash of hashesIn(await checkpoint.read(location))) stored.add(hash)
    const missing = history.filter((item) => chain.isOld(item) && item.block < end && !stored.has(item.hash))
    expect(missing).toEqual([])
  }
}

const given = fc.record({
  seed: fc.nat(1_000_000),
  readers: fc.constantFrom(1, 4, 16),
  kills: fc.nat(2),
  refused: fc.constantFrom(0, 0.1),
})

const CASES = TIE_ORDERS.flatMap((ties) => [
  { ties, endBlock: undefined, end: 'the head' },
  { ties, endBlock: 2_100, end: 'block 2,100' },
])
const name = 'every wallet is complete up to $end if a second is listed $ties'

testSample(3, CASES, name, (example) => checkRandom(1, example))
test.for(CASES)(`${name}, in more rounds`, { tags: ['long'] }, (example) => checkRandom(2, example))

async function checkRandom(numRuns: number, { ties, endBlock }: (typeof CASES)[number]): Promise<void> {
  await fc.assert(
    fc.asyncProperty(given, async (given) => {
      await fetchAll({
        chain: createChain(createSeededRandom(given.seed)),
        given: { ...given, ties },
        endBlock,
      })
    }),
    { numRuns },
  )
}
