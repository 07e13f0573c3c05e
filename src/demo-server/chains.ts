import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { PACKAGE } from '../core/model/version.ts'
import type { ChainState } from './chain-state.ts'
import type { DataServiceOptions } from './data-service.ts'
import { HttpError } from './http-error.ts'
import { addressesOf } from './item-views.ts'
import { integerOf, type JsonObject, objectOf } from './json.ts'
import { PORTFOLIO_CHAIN } from './portfolio-prices.ts'

/** A chain that the listings read up to its head. Its parts are loaded at the first use. */
export type Chain = LoadedChain & {
  readonly id: string
  /** Last block that may be served. */
  head(): number
}

export type Chains = {
  readonly ids: readonly string[]
  /** Returns the chain with this id. Throws `HttpError` 404 if it is unknown. */
  get(id: string): Chain
}

/** Opens the embedded chains and those of the options, which take precedence, without loading them. */
export function openChains({ chains = {} }: DataServiceOptions, headOf: (id: string) => number): Chains {
  const loaded = new Map(EMBEDDED_CHAINS)
  for (const [id, items] of Object.entries(chains)) loaded.set(id, loadChain({ items: async () => items }))
  const ids = [...loaded.keys()]
  return {
    ids,
    get(id) {
      const chain = loaded.get(id)
      if (chain) return { ...chain, id, head: () => headOf(id) }
      throw new HttpError(
        404,
        `chain ${JSON.stringify(id)} is not served here: expected one of ${ids.join(', ')}.`,
      )
    },
  }
}

type ChainParts = {
  /** Every transaction with all its lists, unfiltered, in chain order. */
  readonly items: () => Promise<readonly JsonObject[]>
  /** Omit empty lists from items of blocks with an odd number, because a service may omit them. @default false */
  readonly dropsEmptyInOddBlocks?: boolean
  /** Every block, including empty ones, in chain order. @default those of the items */
  readonly blocks?: () => Promise<readonly Block[]>
  readonly state?: () => Promise<ChainState | undefined>
  readonly atomic?: () => Promise<readonly JsonObject[]>
}

type LoadedChain = ReturnType<typeof loadChain>

function loadChain(parts: ChainParts) {
  const items = once(async () => indexItems(await parts.items(), parts.dropsEmptyInOddBlocks ?? false))
  const blocks = once(parts.blocks ?? (async () => collectBlocks(await items())))
  const blocksById = once(async () => {
    const entries = (await blocks()).flatMap((block) => [
      [block.number, block] as const,
      [block.hash.toLowerCase(), block] as const,
    ])
    return new Map<number | string, Block>(entries)
  })
  const fees = once(async () => baseFeesOf(await blocks()))
  return {
    items,
    /** Returns the block with this number, or with this hash in lower case. */
    block: async (id: number | string) => (await blocksById()).get(id),
    /** Number of the last existing block, which may be after the head; -1 if there are no blocks. */
    last: async () => (await blocks()).at(-1)?.number ?? -1,
    /** Base fee of a block with transactions; undefined if it is unknown. */
    baseFee: async (block: number) => (await fees()).get(block),
    /** Recorded balances; undefined if there are none. */
    state: once(parts.state ?? (async () => undefined)),
    /** Recorded atomic transactions in chain order; empty if there are none. */
    atomic: once(parts.atomic ?? (async () => [])),
  }
}

/** The chains under `chains/`, loaded once per process and shared by all services. */
const EMBEDDED_CHAINS = [
  recordedChain('43114', {
    dropsEmptyInOddBlocks: true,
    blocks: readBlocks,
    state: () => readState('43114'),
    atomic: () => readLines('43114/atomic.ndjson.gz'),
  }),
  recordedChain('1'),
  recordedChain(PORTFOLIO_CHAIN, { state: () => readState(PORTFOLIO_CHAIN) }),
]

function recordedChain(id: string, parts?: Omit<ChainParts, 'items'>) {
  const items = () => readLines(`${id}/transactions-full.ndjson.gz`)
  return [id, loadChain({ items, ...parts })] as const
}

const readState = async (id: string) => (await readLines<ChainState>(`${id}/state.json.gz`))[0]

async function readBlocks(): Promise<Block[]> {
  const lines = await readLines<BlockLine>('43114/blocks.ndjson.gz')
  return lines.map(({ blockNumber, blockHash: hash, transactions }) => {
    return { number: Number(blockNumber), hash, transactions }
  })
}

type BlockLine = { blockNumber: string; blockHash: string; transactions: JsonObject[] }

/** The build does not copy the chains, so they are read from `src` of the package. */
const CHAINS_FOLDER = new URL('src/demo-server/chains/', PACKAGE)

async function readLines<Line = JsonObject>(name: string): Promise<Line[]> {
  const text = (await promisify(gunzip)(await readFile(new URL(name, CHAINS_FOLDER)))).toString('utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

/** Memoizes a function without parameters. A promise is cached too, even if it rejects. */
function once<Value>(make: () => Value): () => Value {
  let cached: { readonly value: Value } | undefined
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}

type Block = {
  readonly number: number
  readonly hash: string
  /** Native transactions (interface 2.2), in block order. */
  readonly transactions: readonly JsonObject[]
}

/** Derives the blocks of a chain from its transactions. Blocks without transactions are unknown. */
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

/** Every transaction with all its lists, unfiltered, in chain order. A position is an index into `items`. */
export type ChainItems = ReturnType<typeof indexItems>

/**
 * Indexes a chain's transactions by block and, at the first lookup, by address and by hash. An item without a valid block
 * number (a broken record, served for tests) gets the block of the item before it.
 */
function indexItems(rawItems: readonly JsonObject[], dropsEmptyInOddBlocks: boolean) {
  const numbers: number[] = []
  for (const item of rawItems) numbers.push(blockNumberOf(item) ?? numbers.at(-1) ?? 0)
  const order = numbers.map((number, position) => ({ number, position })).sort((a, b) => a.number - b.number)
  const items = order.map(({ position }) => rawItems[position] as JsonObject)
  const blockNumbers = order.map(({ number }) => number)
  const positions = once(() => collectPositions(items))
  const gasSums = once(() => sumGas(items, blockNumbers))
  const hashes = once(() => new Map(items.map((item, position) => [hashOf(item), position])))
  return {
    items,
    /** Block number of each item, in ascending order. */
    blockNumbers,
    /** Positions, ascending, of the items that involve an address (lower case). */
    positionsOf: (address: string): readonly number[] => positions().get(address) ?? [],
    /** Position of the transaction with this hash (lower case). */
    positionOf: (hash: string) => hashes().get(hash),
    /** Gas used in a block up to and including the transaction at a position. */
    cumulativeGasAt: (position: number) => gasSums()[position] ?? 0,
    /** Whether empty lists are omitted from the item at a position. */
    dropsEmptyAt: (position: number) => dropsEmptyInOddBlocks && (blockNumbers[position] as number) % 2 === 1,
  }
}

function sumGas(items: readonly JsonObject[], blockNumbers: readonly number[]): number[] {
  let sum = 0
  return items.map((item, position) => {
    if (blockNumbers[position] !== blockNumbers[position - 1]) sum = 0
    sum += Number(objectOf(item.nativeTransaction).gasUsed ?? 0)
    return sum
  })
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

const INITIAL_BASE_FEE = 1_000_000_000n
/** Half of the gas limit of 30 million. */
const GAS_TARGET = 15_000_000n

/**
 * Returns the base fee of each block with transactions. A chain that is known from its genesis block on has
 * the fees that EIP-1559 derives from the gas used, as the development node that recorded it. Otherwise they
 * are unknown, and the lowest price paid in the block stands for its base fee.
 */
function baseFeesOf(blocks: readonly Block[]): ReadonlyMap<number, bigint> {
  const isWhole = blocks[0]?.number === 0 && blocks.every(({ number }, at) => number === at)
  const derived = isWhole ? derivedBaseFees(blocks) : undefined
  const fees = new Map<number, bigint>()
  for (const block of blocks) {
    const lowest = lowestPrice(block)
    const base = derived?.get(block.number)
    if (lowest !== undefined) fees.set(block.number, base !== undefined && base <= lowest ? base : lowest)
  }
  return fees
}

function derivedBaseFees(blocks: readonly Block[]): Map<number, bigint> {
  const fees = new Map<number, bigint>()
  let fee = INITIAL_BASE_FEE
  for (const block of blocks) {
    fees.set(block.number, fee)
    const used = block.transactions.reduce((sum, { gasUsed }) => sum + (integerOf(gasUsed) ?? 0n), 0n)
    const change = (fee * (used - GAS_TARGET)) / GAS_TARGET / 8n
    fee += used > GAS_TARGET && change < 1n ? 1n : change
  }
  return fees
}

function lowestPrice({ transactions }: Block): bigint | undefined {
  const prices = transactions.flatMap(({ gasPrice }) => integerOf(gasPrice) ?? [])
  return prices.sort((a, b) => (a < b ? -1 : 1))[0]
}
