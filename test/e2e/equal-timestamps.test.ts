import { expect } from 'vitest'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { type FaultyResponse, faultWhere, type Listing } from '../helpers/faults.ts'
import { service } from '../helpers/faulty-run.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { nodeData } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import {
  type ListingOptions,
  type SortedItem,
  sameSecondListing,
  TIE_ORDERS,
} from '../helpers/same-second-listing.ts'
import { createSeededRandom } from '../helpers/seeded-random.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

/** Number of blocks that share a second. */
const TOGETHER = 7
const START = 1_700_000_000

/** Wallets with one to five pages, none of which has a page full of transactions of one second. */
const addresses = Object.entries(nodeData.membership)
  .filter(([, { items }]) => [403, 101, 60, 1].includes(items))
  .map(([address]) => address.toLowerCase())

const histories = new Map<string, Promise<SortedItem[]>>()

/** Lists a wallet's history with changed block times. */
function historyOf(wallet: string): Promise<SortedItem[]> {
  const known = histories.get(wallet) ?? listHistory(wallet)
  histories.set(wallet, known)
  return known
}

async function listHistory(wallet: string): Promise<SortedItem[]> {
  const items: SortedItem[] = []
  let token = ''
  do {
    const url = `/v1/chains/43114/addresses/${wallet}/transactions?sortOrder=asc&pageSize=100${token}`
    const { body } = await service.handle({ method: 'GET', url, headers: {} })
    const page = JSON.parse(String(body)) as Listing
    for (const { nativeTransaction, ...item } of page.transactions) {
      const { blockTimestampMilliseconds: _, ...native } = nativeTransaction
      const block = Number(native.blockNumber)
      const second = START + Math.floor(block / TOGETHER)
      const timed = { ...item, nativeTransaction: { ...native, blockTimestamp: second } }
      items.push({ block, second, hash: String(native.txHash), item: timed })
    }
    token = page.nextPageToken ? `&pageToken=${page.nextPageToken}` : ''
  } while (token !== '')
  return items
}

type Given = Pick<ListingOptions<unknown>, 'ties' | 'refused'> & { endBlock?: number | undefined }

/** Exports the wallets from a service that lists the items of a second in the given order. */
async function exported({ endBlock, ...given }: Given) {
  const random = createSeededRandom(7)
  const listings = new Map<string, ReturnType<typeof sameSecondListing>>()
  for (const wallet of addresses) {
    const history = await historyOf(wallet)
    listings.set(wallet, sameSecondListing({ ...given, items: () => history, random }))
  }
  const tied: FaultyResponse = (response, _, { path, query }) => {
    const page = listings.get(path.split('/')[5] ?? '')?.({
      from: Number(query.get('startBlock')),
      to: Number(query.get('endBlock')),
      order: query.get('sortOrder') === 'desc' ? 'desc' : 'asc',
      token: query.get('pageToken') ?? undefined,
    })
    response.writeHead(page === undefined ? 400 : 200)
    response.end(JSON.stringify({ transactions: page?.items, nextPageToken: page?.next }))
  }
  const { url } = await startLoopback(
    service,
    faultWhere(() => true, tied),
  )
  const output = tempFolder()
  const endpoint = { baseUrl: url }
  const { code, jobs } = await run([testJob({ addresses, output, endBlock, service: endpoint })])
  expect([code, jobs[0]?.error]).toEqual([undefined, undefined])
  await expectValid(output)
  return { bytes: outputBytes(output), transactions: jobs[0]?.stats.transactions }
}

const calm = new Map<number | undefined, ReturnType<typeof exported>>()

/** The export in chain order. */
function calmlyExported(endBlock: number | undefined) {
  const known = calm.get(endBlock) ?? exported({ ties: 'chain order', endBlock })
  calm.set(endBlock, known)
  return known
}

testSample(
  1,
  TIE_ORDERS,
  'writes the same rows if the items of a second are listed %s and page tokens are refused',
  async (ties) => {
    for (const endBlock of [undefined, 421]) {
      const tied = await exported({ ties, refused: 0.5, endBlock })
      expect(tied.transactions).toBeGreaterThan(500)
      expect(tied.bytes).toEqual((await calmlyExported(endBlock)).bytes)
    }
  },
)
