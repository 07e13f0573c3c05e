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
import { fakeRequester, type Query, type Reply } from '../../sources/data-api/pages/fake-requester.ts'
import { bodyOf, hashesIn, tiedItems } from '../../sources/data-api/pages/listing.ts'

/** More than a second has, and small enough that the readers share a wallet out. */
const PAGE_SIZE = 16
const BLOCKS = 2_400
const WALLETS = [1, 2, 3].map((at) => `0x${String(at).padStart(40, '0')}`)

type History = readonly SortedItem<object>[]
type World = { histories: Map<string, History>; nowMs: number; old: (item: SortedItem) => boolean }

/** Three wallets, most of it in the first; the run begins in the middle of a second that goes on. */
function createWorld(random: SeededRandom): World {
  const items = tiedItems(sameSecondBlocks({ blocks: BLOCKS, random, maxPerSecond: 3 }))
  const weights = [0.9, 0.1, 0.02]
  const histories = new Map(
    WALLETS.map((wallet, at) => [wallet, items.filter(() => random.next() < (weights[at] ?? 0))]),
  )
  const last = items[Math.floor(items.length * 0.95)]?.second ?? 0
  return { histories, nowMs: last * 1000 + 500, old: ({ second }) => second < last }
}

type Given = Pick<ListingOptions<object>, 'ties' | 'refused'> & {
  seed: number
  readers: number
  kills: number
}
type Run = { world: World; given: Given; endBlock: number | undefined }

/** The service: every answer takes some turns, and shows one block more of what came after the run's start. */
function serve({ world, given }: Run, random: SeededRandom) {
  let requests = 0
  const listings = new Map(
    [...world.histories].map(([wallet, history]) => {
      const first = history.findIndex((item) => !world.old(item))
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

/** A spool that lets no block count as settled of which a page before did not show all. */
function watched(checkpoint: Checkpoint, { world }: Run, shown: Map<string, Set<string>>): Checkpoint {
  return {
    ...checkpoint,
    addPage: async (wallet, page) => {
      const hashes = shown.get(wallet) ?? new Set()
      shown.set(wallet, hashes)
      for (const hash of hashesIn(page.body)) hashes.add(hash)
      const place = await checkpoint.addPage(wallet, page)
      const { from, to } = page.covered
      const isLost = (item: SortedItem) =>
        world.old(item) && item.block >= from && item.block < to && !hashes.has(item.hash)
      expect(world.histories.get(wallet)?.filter(isLost)).toEqual([])
      return place
    },
  }
}

/** Crawls, killed so many times on the way, and looks at what the checkpoint holds at the end. */
async function crawlAll(run: Run): Promise<void> {
  const { world, given, endBlock } = run
  const folder = mkdtempSync(join(tempFolder(), 'crawl-'))
  const random = createSeededRandom(given.seed)
  const reply = serve(run, random)
  const job = testJob({ addresses: WALLETS, endBlock, concurrency: given.readers })
  const identity = { chain: job.chain, startBlock: 0, endBlock: endBlock ?? null, finalityMs: 0 }
  const shown = new Map<string, Set<string>>()
  for (let kills = given.kills; kills >= 0; kills -= 1) {
    const stop = new AbortController()
    let left = kills === 0 ? Number.POSITIVE_INFINITY : random.between(1, 100)
    const counted = (query: Query) => {
      left -= 1
      if (left === 0) stop.abort(new Error('killed'))
      return reply(query)
    }
    const { requestContext } = fakeRequester(counted, stop.signal)
    const checkpoint = await openCheckpoint({ folder, identity, now: world.nowMs, onDamage: () => {} })
    const context = {
      job,
      listings: listingsOf(job),
      requestContext,
      stats: newRunStats(WALLETS.length, 0),
      onPage: () => {},
      onNotice: () => {},
    }
    const end = await fetchWallets({ ...context, checkpoint: watched(checkpoint, run, shown) }).catch(
      (thrown: unknown) => {
        if (!stop.signal.aborted) throw thrown
        return undefined
      },
    )
    if (end !== undefined) await expectWhole(run, checkpoint, end)
    await checkpoint.close()
  }
}

async function expectWhole({ world, endBlock }: Run, checkpoint: Checkpoint, end: number): Promise<void> {
  const old = [...world.histories.values()].flat().filter(world.old)
  expect(end).toBe(endBlock ?? Math.max(...old.map(({ block }) => block)) + 1)
  for (const [wallet, history] of world.histories) {
    expect(checkpoint.remaining(wallet)).toEqual([])
    const kept = new Set<string>()
    for (const { location } of checkpoint.records(new Map([[wallet, UNBOUNDED]])))
      for (const hash of hashesIn(await checkpoint.read(location))) kept.add(hash)
    const missing = history.filter((item) => world.old(item) && item.block < end && !kept.has(item.hash))
    expect(missing).toEqual([])
  }
}

const given = fc.record({
  seed: fc.nat(1_000_000),
  readers: fc.constantFrom(1, 4, 16),
  kills: fc.nat(2),
  refused: fc.constantFrom(0, 0.1),
})

test.for(
  TIE_ORDERS.flatMap((ties) => [
    { ties, endBlock: undefined, end: 'the head' },
    { ties, endBlock: 2_100, end: 'block 2,100' },
  ]),
)('every wallet is whole up to $end where a second is listed $ties', async ({ ties, endBlock }) => {
  await fc.assert(
    fc.asyncProperty(given, async (given) => {
      await crawlAll({
        world: createWorld(createSeededRandom(given.seed)),
        given: { ...given, ties },
        endBlock,
      })
    }),
    { numRuns: 4 },
  )
})
