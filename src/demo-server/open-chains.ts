import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'
import { PACKAGE } from '../core/model/version.ts'
import type { ChainState } from './balances/chain-state.ts'
import { baseFeesOf } from './base-fees.ts'
import type { Block, Chain, ChainItems } from './chain.ts'
import type { DataServiceOptions } from './data-service.ts'
import { HttpError } from './http-error.ts'
import { type JsonObject, objectOf } from './json.ts'
import { once } from './once.ts'
import { addressesOf } from './wallet-view.ts'

export type Chains = {
  readonly ids: readonly string[]
  /** Returns the chain with this id. Throws `HttpError` 404 if it is unknown. */
  get(id: string): Chain
}

/** Opens the embedded chains and those of the options, which take precedence, without loading them. */
export function openChains({ chains = {} }: DataServiceOptions, headOf: (id: string) => number): Chains {
  const opened = new Map<string, Chain>()
  const register = (id: string, loaded: LoadedChain) => opened.set(id, { head: () => headOf(id), ...loaded })
  for (const embedded of EMBEDDED_CHAINS) register(embedded.id, embedded)
  for (const [id, items] of Object.entries(chains))
    register(
      id,
      openItems(id, async () => items),
    )
  const ids = [...opened.keys()]

  return {
    ids,
    get(id) {
      const chain = opened.get(id)
      if (chain) return chain
      throw new HttpError(
        404,
        `chain ${JSON.stringify(id)} is not served here: expected one of ${ids.join(', ')}.`,
      )
    },
  }
}

type LoadedChain = Omit<Chain, 'head'>

/** Opens a chain from its transactions only, so blocks without transactions are unknown. */
function openItems(id: string, read: () => Promise<readonly JsonObject[]>): LoadedChain {
  const items = once(async () => indexItems(await read(), { dropsEmptyInOddBlocks: false }))
  return openBlocks(id, { items, blocks: once(async () => collectBlocks(await items())) })
}

type ChainParts = {
  items: () => Promise<ChainItems>
  blocks: () => Promise<readonly Block[]>
  state?: () => Promise<ChainState>
  atomic?: () => Promise<readonly JsonObject[]>
}

function openBlocks(id: string, { items, blocks, state, atomic }: ChainParts): LoadedChain {
  const index = once(async () => indexBlocks(await blocks()))
  const fees = once(async () => baseFeesOf(await blocks()))
  return {
    id,
    items,
    baseFee: async (block) => (await fees()).get(block),
    block: async (block) => (await index()).get(block),
    last: async () => (await blocks()).at(-1)?.number ?? -1,
    state: async () => state?.(),
    atomic: async () => (await atomic?.()) ?? [],
  }
}

/**
 * Chains under `chains/`, read once per process and shared by all services. The first one has a list of its blocks,
 * including empty ones, and recorded balances; the blocks of the second one are derived from its transactions.
 */
const EMBEDDED_CHAINS: readonly LoadedChain[] = [
  openBlocks('43114', {
    items: once(async () => indexItems(await readTransactions('43114'), { dropsEmptyInOddBlocks: true })),
    blocks: once(() => readBlocks('43114')),
    state: once(() => readState('43114')),
    atomic: once(() => readAtomicTransactions('43114')),
  }),
  openItems('1', () => readTransactions('1')),
]

/** Derives the blocks of a chain from its transactions, for a chain without a list of blocks. */
function collectBlocks({ items, blockNumbers }: ChainItems): Block[] {
  const blocks: (Block & { transactions: JsonObject[] })[] = []
  for (const [position, item] of items.entries()) {
    const transaction = objectOf(item.nativeTransaction)
    const number = blockNumbers[position] as number
    const last = blocks.at(-1)
    if (last?.number === number) last.transactions.push(transaction)
    else blocks.push({ number, hash: String(transaction.blockHash), transactions: [transaction] })
  }
  return blocks
}

/** Indexes blocks by number and by hash in lower case. */
function indexBlocks(blocks: readonly Block[]): Map<number | string, Block> {
  return new Map(
    blocks.flatMap((block): [number | string, Block][] => [
      [block.number, block],
      [block.hash.toLowerCase(), block],
    ]),
  )
}

/**
 * Indexes a chain's transactions by block and, at the first lookup, by address and by hash. An item without a valid block
 * number (a broken record, served for tests) gets the block of the item before it.
 */
function indexItems(
  rawItems: readonly JsonObject[],
  options: Pick<ChainItems, 'dropsEmptyInOddBlocks'>,
): ChainItems {
  const numbers: number[] = []
  for (const item of rawItems) numbers.push(blockNumberOf(item) ?? numbers.at(-1) ?? 0)
  const order = numbers.map((number, position) => ({ number, position })).sort((a, b) => a.number - b.number)
  const items = order.map(({ position }) => rawItems[position] as JsonObject)
  const positions = once(() => collectPositions(items))
  const hashes = once(() => new Map(items.map((item, position) => [hashOf(item), position])))
  return {
    items,
    blockNumbers: order.map(({ number }) => number),
    positionsOf: (address) => positions().get(address) ?? [],
    positionOf: (hash) => hashes().get(hash),
    ...options,
  }
}

function blockNumberOf(item: JsonObject): number | undefined {
  const text = objectOf(item.nativeTransaction).blockNumber
  return typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : undefined
}

function hashOf(item: JsonObject): string {
  return String(objectOf(item.nativeTransaction).txHash ?? '').toLowerCase()
}

function collectPositions(items: readonly JsonObject[]): Map<string, number[]> {
  const positions = new Map<string, number[]>()
  for (const [position, item] of items.entries()) {
    for (const address of addressesOf(item)) {
      const existing = positions.get(address)
      if (existing) existing.push(position)
      else positions.set(address, [position])
    }
  }
  return positions
}

/** Reads every transaction of an embedded chain, with all its lists, in chain order. */
function readTransactions(chain: string): Promise<JsonObject[]> {
  return readLines<JsonObject>(`${chain}/transactions-full.ndjson.gz`)
}

/** Reads every block of an embedded chain, including empty ones, in chain order. */
async function readBlocks(chain: string): Promise<Block[]> {
  const lines = await readLines<BlockLine>(`${chain}/blocks.ndjson.gz`)
  return lines.map(({ blockNumber, blockHash, transactions }) => ({
    number: Number(blockNumber),
    hash: blockHash,
    transactions,
  }))
}

/** Reads the recorded balances of an embedded chain. */
async function readState(chain: string): Promise<ChainState> {
  const [state] = await readLines<ChainState>(`${chain}/state.json.gz`)
  if (state === undefined) throw new ExportError('BUG', `${chain}/state.json.gz is empty`)
  return state
}

/** Reads the atomic transactions of an embedded chain, in chain order. */
function readAtomicTransactions(chain: string): Promise<JsonObject[]> {
  return readLines<JsonObject>(`${chain}/atomic.ndjson.gz`)
}

type BlockLine = { blockNumber: string; blockHash: string; transactions: JsonObject[] }

/** The build does not copy the chains, so they are read from `src` of the package. */
const CHAINS_FOLDER = new URL('src/demo-server/chains/', PACKAGE)

async function readLines<Line>(name: string): Promise<Line[]> {
  const text = (await promisify(gunzip)(await readFile(new URL(name, CHAINS_FOLDER)))).toString('utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}
