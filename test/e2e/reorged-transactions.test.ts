import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import type { Item } from '../helpers/growing-chain.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { smallWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const service = createDataService()
/** Two small wallets that share transactions, and a third wallet. */
const addresses = smallWallets.slice(0, 3)

type Change = (item: Item, wallet: string) => Item[]

/** Lists all items of a wallet of the demo chain. */
async function itemsOf(wallet: string): Promise<Item[]> {
  const items: Item[] = []
  const path = `/v1/chains/43114/addresses/${wallet}/transactions?pageSize=100&startBlock=0&endBlock=421&sortOrder=asc`
  for (let token = ''; ; ) {
    const { body } = await service.handle({ method: 'GET', url: path + token, headers: {} })
    const { transactions, nextPageToken } = JSON.parse(body) as {
      transactions: Item[]
      nextPageToken?: string
    }
    items.push(...transactions)
    if (!nextPageToken) return items
    token = `&pageToken=${encodeURIComponent(nextPageToken)}`
  }
}

const listings = new Map<string, Promise<Item[]>>()

/** Returns a page of a wallet's changed items, filtered and sorted by their changed block numbers. */
async function listChanged(wallet: string, query: URLSearchParams, change: Change): Promise<object> {
  const all = listings.get(wallet) ?? itemsOf(wallet)
  listings.set(wallet, all)
  const [from, to] = [Number(query.get('startBlock')), Number(query.get('endBlock'))]
  const sign = query.get('sortOrder') === 'desc' ? -1 : 1
  const inside = (await all)
    .flatMap((item) => change(item, wallet))
    .filter((item) => blockOf(item) >= from && blockOf(item) < to)
    .sort((a, b) => sign * (blockOf(a) - blockOf(b) || indexOf(a) - indexOf(b)))
  const start = Number(query.get('pageToken') ?? 0)
  const end = start + Number(query.get('pageSize'))
  const nextPageToken = end < inside.length ? String(end) : ''
  return { nextPageToken, transactions: inside.slice(start, end) }
}

/** Exports the wallets from a service with changed listings. */
async function exported(
  change: Change = (item) => [item],
  given: { concurrency?: number; format?: 'parquet' | undefined } = {},
) {
  const { url } = await startLoopback(service, ({ path, query }) =>
    path.includes('/addresses/')
      ? async (response) => {
          const page = await listChanged(walletOf(path), query, change)
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page))
        }
      : undefined,
  )
  const output = tempFolder()
  const endpoint = { baseUrl: url }
  const { code, jobs } = await run([
    testJob({
      addresses,
      output,
      service: endpoint,
      ...(given.concurrency && { concurrency: given.concurrency }),
      ...(given.format && { format: given.format, compression: 'zstd' }),
    }),
  ])
  expect([code, jobs[0]?.error]).toEqual([undefined, undefined])
  await expectValid(output)
  return { output, bytes: outputBytes(output), stats: jobs[0]?.stats }
}

const walletOf = (path: string) => path.split('/')[5]?.toLowerCase() ?? ''
const blockOf = ({ nativeTransaction }: Item) => Number(nativeTransaction.blockNumber)
const indexOf = ({ nativeTransaction }: Item) => Number(nativeTransaction.blockIndex)
const native = ({ nativeTransaction }: Item) => nativeTransaction as { txHash: string; blockNumber: string }

const at = (item: Item, place: object): Item => ({
  ...item,
  nativeTransaction: { ...item.nativeTransaction, ...place },
})

/** Exports without changes, and finds a transaction that several wallets list. */
async function exportCalmly() {
  const { output, ...right } = await exported(undefined)
  const seenBy = new Map<string, string[]>()
  for (const { transaction_hash: hash = '', wallet_address: wallet = '' } of await readCsvTable(
    output,
    'wallet_transactions',
  ))
    seenBy.set(hash, [...(seenBy.get(hash) ?? []), wallet])
  const [hash = '', of = []] = [...seenBy].find(([, all]) => all.length > 1) ?? []
  expect(of.length).toBeGreaterThan(1)
  return { ...right, hash, lowest: of[0] }
}

let calmRun: ReturnType<typeof exportCalmly> | undefined

function calm() {
  calmRun ??= exportCalmly()
  return calmRun
}

type Moves = { blockIndex?: number; blockNumber?: (block: number) => number; blockTimestamp?: number }

const NEXT_BLOCK: Moves = { blockIndex: 99, blockNumber: (block: number) => block + 1 }

const CASES: { what: string; moves: Moves }[] = [
  { what: 'a different index', moves: { blockIndex: 99 } },
  { what: 'the next block', moves: NEXT_BLOCK },
  { what: 'the previous block', moves: { blockIndex: 99, blockNumber: (block) => block - 1 } },
  // The last block of the chain, at a time after all others.
  {
    what: 'a distant block',
    moves: { blockIndex: 99, blockNumber: () => 420, blockTimestamp: 1_701_000_000 },
  },
]

const placed = (item: Item, { blockNumber, ...rest }: Moves) => {
  const block = Number(native(item).blockNumber)
  return at(item, { ...rest, ...(blockNumber && { blockNumber: String(blockNumber(block)) }) })
}

testSample(
  0,
  CASES,
  "keeps a transaction at the lowest wallet's location if another wallet lists it in $what",
  async ({ moves }) => {
    const { hash, lowest, ...right } = await calm()
    const change: Change = (item, wallet) =>
      native(item).txHash === hash && wallet !== lowest ? [placed(item, moves)] : [item]
    for (const concurrency of [1, 16]) {
      const { bytes, stats } = await exported(change, { concurrency })
      expect(bytes).toEqual(right.bytes)
      expect(stats?.rows).toEqual(right.stats?.rows)
      expect(stats?.transactions).toBe(right.stats?.transactions)
    }
  },
)

testSample(1, CASES, 'uses the location of the lowest wallet, also if that is $what', async ({ moves }) => {
  const { hash, lowest } = await calm()
  const inAll: Change = (item) => [native(item).txHash === hash ? placed(item, moves) : item]
  const inOne: Change = (item, wallet) => (wallet === lowest ? inAll(item, wallet) : [item])
  for (const format of [undefined, 'parquet'] as const)
    expect((await exported(inOne, { format })).bytes).toEqual((await exported(inAll, { format })).bytes)
})

test('exports a transaction in the later block if a listing contains it twice', async () => {
  const { hash } = await calm()
  const twice: Change = (item) => (native(item).txHash === hash ? [item, placed(item, NEXT_BLOCK)] : [item])
  const once: Change = (item) => [native(item).txHash === hash ? placed(item, NEXT_BLOCK) : item]
  expect((await exported(twice)).bytes).toEqual((await exported(once)).bytes)
})
