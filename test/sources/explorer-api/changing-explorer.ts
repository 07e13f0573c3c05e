import { join } from 'node:path'
import { expect } from 'vitest'
import type { Coverage } from '../../../src/core/model/manifest.ts'
import type { TableName } from '../../../src/core/table/index.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import type { DataService, ServiceResponse } from '../../../src/demo-server/data-service.ts'
import { run } from '../../../src/export/run.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { testJob } from '../../helpers/jobs.ts'
import { startLoopback } from '../../helpers/loopback.ts'
import { readCsvTable, readManifest } from '../../helpers/read-output.ts'
import { createSeededRandom, type SeededRandom } from '../../helpers/seeded-random.ts'
import {
  addressOf,
  type SyntheticItem,
  syntheticErc20,
  syntheticErc721,
  syntheticInternal,
  syntheticItem,
} from '../../helpers/synthetic-chain.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

/** What an explorer does with a request at the moment. */
export type ExplorerState = {
  /** The largest number of records per answer, which may depend on the number of the request. @default 10,000 */
  maxRecords?: (request: number) => number
  /** Listings that the explorer does not have. @default it has all */
  withoutListings?: readonly string[]
  /** Blocks whose internal transactions are not processed, and never will be. @default none */
  unprocessed?: readonly number[]
}

type ExplorerApi = 'etherscan' | 'blockscout'

/** An explorer of a synthetic chain whose state, and chain, can be replaced at any time. */
export function changingExplorer(api: ExplorerApi, chain: readonly SyntheticItem[]) {
  const serviceOf = (items: readonly SyntheticItem[]) =>
    createDataService({ api, chains: { 43114: items as never } })
  let [service, state, requests] = [serviceOf(chain) as DataService, {} as ExplorerState, 0]
  const handle: DataService['handle'] = (request) => {
    requests += 1
    const url = new URL(request.url, 'http://loopback')
    const query = url.searchParams
    const action = query.get('action') ?? ''
    if (state.withoutListings?.includes(action))
      return answer({ status: '0', message: 'NOTOK', result: 'Error! Missing Or invalid Action name' })
    const [from, to] = [Number(query.get('startblock')), Number(query.get('endblock') ?? Infinity)]
    if (action === 'txlistinternal' && state.unprocessed?.some((block) => block >= from && block <= to))
      return answer({ status: '2', message: UNPROCESSED, result: [] })
    const limit = state.maxRecords?.(requests) ?? 10_000
    if (query.has('offset')) query.set('offset', String(Math.min(limit, Number(query.get('offset')))))
    return service.handle({ ...request, url: `${url.pathname}?${query}` })
  }
  return {
    service: { handle },
    change: (next: ExplorerState, items?: readonly SyntheticItem[]) => {
      state = next
      if (items !== undefined) service = serviceOf(items)
    },
    requests: () => requests,
  }
}

const UNPROCESSED = 'Some internal transactions within this block range have not yet been processed'

const answer = (body: object): ServiceResponse => {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

const WALLETS = [addressOf('alice'), addressOf('bob')]
const [ALICE = '', BOB = ''] = WALLETS
const FIRST_BLOCK = 1_000

/** The transaction with this number, with one entry of each listing, between one of the wallets and a stranger. */
function itemOf(number: number, perBlock: number): SyntheticItem {
  const wallet = number % 3 === 0 ? BOB : ALICE
  const [stranger, block] = [addressOf('stranger'), FIRST_BLOCK + Math.floor(number / perBlock)]
  return syntheticItem(
    number,
    {
      block,
      blockIndex: number % perBlock,
      from: { address: stranger },
      to: { address: wallet },
      value: '1',
    },
    {
      internalTransactions: [syntheticInternal(addressOf('router'), wallet)],
      erc20Transfers: number % 2 === 0 ? [syntheticErc20(0, stranger, wallet)] : [],
      erc721Transfers: number % 5 === 0 ? [syntheticErc721(1, stranger, wallet)] : [],
    },
  )
}

/** The listing of each table, and which transactions have an entry in it. */
const LISTED: readonly { table: TableName; listing: string; has: (number: number) => boolean }[] = [
  { table: 'transactions', listing: 'txlist', has: () => true },
  { table: 'internal_transactions', listing: 'txlistinternal', has: () => true },
  { table: 'erc20_transfers', listing: 'tokentx', has: (number) => number % 2 === 0 },
  { table: 'erc721_transfers', listing: 'tokennfttx', has: (number) => number % 5 === 0 },
]

/**
 * Exports two wallets of a growing chain in several runs from an explorer that lowers and raises its records per answer,
 * has some of the listings only, and has not processed some blocks. After each run, nothing may be missing inside of what
 * the manifest claims, and after the last one, for which the explorer has everything, nothing at all.
 */
export async function checkChangingExplorer(seed: number): Promise<void> {
  const random = createSeededRandom(seed)
  const api = random.pick(['etherscan', 'blockscout'] as const)
  const perBlock = random.pick([1, 3, 40])
  const numbers = Array.from({ length: random.between(150, 1_200) }, (_, number) => number)
  const items = numbers.map((number) => itemOf(number, perBlock))
  const explorer = changingExplorer(api, [])
  const { url } = await startLoopback(explorer.service)
  const endBlock = random.pick([undefined, undefined, FIRST_BLOCK + Math.ceil(items.length / perBlock)])
  const service = { baseUrl: url, apiKeyHeader: 'x', timeoutMs: 60_000, api }
  const concurrency = random.between(1, 4)
  const job = testJob({
    addresses: WALLETS,
    output: join(tempFolder(), 'out'),
    endBlock,
    concurrency,
    service,
  })
  const runs = random.between(2, 4)
  for (let at = 1; at <= runs; at += 1) {
    const isLast = at === runs
    const heads = endBlock === undefined && !isLast ? random.between(10, items.length) : items.length
    const listed = at === 1 || isLast ? heads : items.length
    explorer.change(
      isLast ? { maxRecords: randomCap(random) } : randomState(random, api),
      items.slice(0, listed),
    )
    const { code, jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2, retries: 3 } })
    const where = { seed, api, perBlock, run: at, message: jobs[0]?.error?.message }
    const { coverage } = readManifest(job.output)
    const hasGaps = coverage.some(({ gaps }) => gaps !== undefined)
    expect({ ...where, code }).toEqual({ ...where, code: hasGaps ? 'LISTINGS_INCOMPLETE' : undefined })
    if (isLast) expect({ ...where, hasGaps }).toEqual({ ...where, hasGaps: false })
    const { problems } = await verifyOutput(job.output)
    expect({ ...where, problems }).toEqual({ ...where, problems: [] })
    await expectClaimedRows(job.output, { coverage, items: items.slice(0, listed), where })
  }
}

function randomState(random: SeededRandom, api: ExplorerApi): ExplorerState {
  // The listing of ERC-1155 transfers of Blockscout may be missing without being a gap.
  const listings = LISTED.map(({ listing }) => listing)
  return {
    maxRecords: randomCap(random),
    withoutListings: random.pick([[], [random.pick(listings)], listings.filter(() => random.next() < 0.4)]),
    unprocessed:
      api === 'blockscout' && random.next() < 0.5
        ? [random.between(FIRST_BLOCK - 5, FIRST_BLOCK + 40), random.between(5, 400)]
        : [],
  }
}

/** A limit that is lowered after some requests. */
function randomCap(random: SeededRandom): (request: number) => number {
  const limits = [10_000, 1_000, 500, 200, 100].filter(() => random.next() < 0.6)
  const each = random.between(1, 9)
  return (request) => limits[Math.min(limits.length - 1, Math.floor(request / each) % 12)] ?? 10_000
}

type Claim = { coverage: readonly Coverage[]; items: readonly SyntheticItem[]; where: object }

/** Expects every row that lies within the coverage of its wallet, and in no gap of its listing. */
async function expectClaimedRows(output: string, { coverage, items, where }: Claim): Promise<void> {
  for (const { table, listing, has } of LISTED) {
    const known = table === 'transactions' ? ({ value }: Record<string, string>) => value !== '' : () => true
    const rows = (await readCsvTable(output, table)).filter(known)
    const exported = rows.map((row) => row.transaction_hash ?? '')
    expect({ ...where, table, rows: rows.length }).toEqual({ ...where, table, rows: new Set(exported).size })
    const hashes = new Set(exported)
    const missing = items.flatMap(({ nativeTransaction }, number) => {
      const { blockNumber, txHash, to } = nativeTransaction
      const wallet = coverage.find(({ address }) => address === (to as { address: string }).address)
      const isClaimed = wallet !== undefined && has(number) && claims(wallet, listing, Number(blockNumber))
      return isClaimed && !hashes.has(String(txHash)) ? [Number(blockNumber)] : []
    })
    expect({ ...where, table, missing }).toEqual({ ...where, table, missing: [] })
  }
}

const claims = ({ fromBlock, toBlock, gaps = [] }: Coverage, listing: string, block: number): boolean =>
  block >= fromBlock &&
  block < toBlock &&
  !gaps.some((gap) => gap.listing === listing && block >= gap.fromBlock && block < gap.toBlock)
