// An independent model of a chain. It deliberately shares no code with the program.
import { createHash } from 'node:crypto'
import type { SeededRandom } from '../seeded-random.ts'

export type Party = { address: string; name?: string }
type Erc20 = {
  from: Party
  to: Party
  logIndex: number
  value: string
  erc20Token: { address: string; name?: string; symbol?: string; decimals?: number; ercType: 'ERC-20' }
}
type Erc721 = {
  from: Party
  to: Party
  logIndex: number
  erc721Token: {
    address: string
    name?: string
    symbol?: string
    ercType: 'ERC-721'
    tokenId: string
    tokenUri: string
    ownerAddress?: string
    metadata?: {
      indexStatus: string
      metadataLastUpdatedTimestamp: number
      name?: string
      attributes?: string
    }
  }
}
type Erc1155 = {
  from: Party
  to: Party
  logIndex: number
  value: string
  erc1155Token: {
    address: string
    ercType: 'ERC-1155'
    tokenId: string
    tokenUri: string
    metadata: { indexStatus: string; decimals?: number; description?: string; properties?: string }
  }
}
type Internal = {
  from: Party
  to: Party
  internalTxType: string
  value: string
  isReverted: boolean
  gasUsed: string
  gasLimit: string
}

/** The content of a transaction, independent of its position in the chain. */
export type TransactionContent = {
  hash: string
  status: '0' | '1'
  type: number
  nonce: string
  from: Party
  to: Party
  value: string
  gasLimit: string
  gasUsed: string
  gasPrice: string
  method: { callType: string; methodHash: string; methodName?: string }
  erc20: Erc20[]
  erc721: Erc721[]
  erc1155: Erc1155[]
  internal: Internal[]
  /** Index of the first run in which the API lists it. */
  since: number
}
type Block = { number: number; hash: string; timeMs: number; transactions: TransactionContent[] }
export type ChainModel = {
  blocks: Block[]
  wallets: string[]
  random: SeededRandom
  givesMs: boolean
  hashCount: number
}

const ZERO = `0x${'0'.repeat(40)}`
/** Untrusted names. */
const UNTRUSTED_NAMES = [
  '=cmd|1',
  "'=x",

  'a "b" c',
  'x,y',
  'two\nlines',
  'cr\rhere',
  '漢字',
  '😀',
  '\ttab',
  '-1',
  '@me',
  "it's",
]
const hex = (text: string, digits: number) => createHash('sha256').update(text).digest('hex').slice(0, digits)
export const addressOf = (name: string) => `0x${hex(name, 40)}`
const OTHER_PARTIES = ['router', 'pool', 'friend', 'exchange'].map(addressOf)
const TOKENS = ['usdx', 'weth', 'odd', 'punks', 'items'].map(addressOf)

/** Creates an empty chain. Several of its blocks may have the same second. */
export function newChain({ random, wallets }: { random: SeededRandom; wallets: number }): ChainModel {
  const all = Array.from({ length: wallets }, (_, at) => addressOf(`wallet ${at}`))
  return { blocks: [], wallets: all, random, givesMs: random.next() < 0.5, hashCount: 0 }
}

/** Adds blocks. With `inFuture`, their times are after the start of any run. */
export function growChain(
  chainModel: ChainModel,
  { blocks, runIndex, inFuture = false }: { blocks: number; runIndex: number; inFuture?: boolean },
): void {
  for (let count = 0; count < blocks; count += 1) {
    const last = chainModel.blocks.at(-1)
    const number = (last?.number ?? 0) + 1
    const timeMs = Math.max(inFuture ? FUTURE_MS : 0, timeAfter(chainModel, last))
    const block = { number, hash: newHash(chainModel), timeMs, transactions: [] }
    chainModel.blocks.push(block)
    fillBlock(chainModel, block, runIndex)
  }
}

/** Times from the year 2100 on mark blocks that were created during a run. */
const FUTURE_MS = Date.UTC(2100, 0)

export const isFuture = ({ timeMs }: Block) => timeMs >= FUTURE_MS

const timeAfter = ({ random }: ChainModel, last: Block | undefined) =>
  (last?.timeMs ?? 1_700_000_000_000) + random.pick([0, 150, 400, 900, 2_000, 90_000_000])

/** Moves the times of blocks that were created during the previous run into the past. */
export function ageBlocks(chainModel: ChainModel): void {
  for (const [at, block] of chainModel.blocks.entries())
    if (isFuture(block)) block.timeMs = timeAfter(chainModel, chainModel.blocks[at - 1])
}

function fillBlock(chainModel: ChainModel, block: Block, runIndex: number): void {
  const count = chainModel.random.pick([0, 0, 1, 1, 2, 3])
  for (let added = 0; added < count; added += 1) block.transactions.push(newContent(chainModel, runIndex))
}

function newHash(chainModel: ChainModel): string {
  chainModel.hashCount += 1
  return `0x${hex(`${chainModel.hashCount} ${chainModel.wallets[0]}`, 64)}`
}

function newContent(chainModel: ChainModel, since: number): TransactionContent {
  const { random } = chainModel
  const status = random.next() < 0.85 ? '1' : '0'
  const from = partyOf(chainModel)
  const content: TransactionContent = {
    hash: newHash(chainModel),
    status,
    type: random.pick([0, 2]),
    nonce: String(random.between(0, 1_000)),
    from,
    to: random.next() < 0.05 ? { address: '' } : random.next() < 0.08 ? from : partyOf(chainModel),
    value: amountOf(random),
    gasLimit: '90000',
    gasUsed: String(random.between(21_000, 90_000)),
    gasPrice: random.pick(['25000000000', '1', '0', '470000000000']),
    method: {
      callType: 'CONTRACT_CALL',
      methodHash: '0xa9059cbb',
      ...optional('methodName', nameOf(random)),
    },
    ...{ erc20: [], erc721: [], erc1155: [], internal: [] },
    since,
  }
  let log = random.between(0, 3)
  const nextLog = () => (log += random.between(1, 2))
  const times = () => random.pick([0, 0, 0, 1, 2, 3])
  for (let remaining = times(); remaining > 0; remaining -= 1)
    content.erc20.push(newErc20(chainModel, nextLog()))
  for (let remaining = times(); remaining > 1; remaining -= 1)
    content.erc721.push(newErc721(chainModel, nextLog()))
  for (let remaining = times(); remaining > 1; remaining -= 1)
    content.erc1155.push(...newBatch(chainModel, nextLog()))
  for (let remaining = times(); remaining > 0; remaining -= 1) content.internal.push(newInternal(chainModel))
  // Some transactions contain the same internal call twice.
  const [twice] = content.internal
  if (twice !== undefined && random.next() < 0.3) content.internal.push({ ...twice })
  return content
}

const optional = <N extends string>(name: N, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [K in N]?: string }

function partyOf(chainModel: ChainModel): Party {
  const { random, wallets } = chainModel
  const roll = random.next()
  const address = roll < 0.55 ? random.pick(wallets) : roll < 0.65 ? ZERO : random.pick(OTHER_PARTIES)
  // A party has the same name in every view.
  const name =
    Number.parseInt(address.slice(-2), 16) % 3 === 0
      ? UNTRUSTED_NAMES[Number.parseInt(address.slice(-4), 16) % UNTRUSTED_NAMES.length]
      : undefined
  return { address, ...(name === undefined ? {} : { name }) }
}

const nameOf = (random: SeededRandom) => (random.next() < 0.4 ? undefined : random.pick(UNTRUSTED_NAMES))
const amountOf = (random: SeededRandom) =>
  random.pick([
    '0',
    '1',
    '1000000000000000000',
    '123456789012345678901234567890',
    (2n ** 256n - 1n).toString(),
    '500',
  ])

function newErc20(chainModel: ChainModel, logIndex: number): Erc20 {
  const { random } = chainModel
  const at = random.between(0, 2)
  const token = {
    address: TOKENS[at] ?? '',
    ercType: 'ERC-20' as const,
    ...optional('name', UNTRUSTED_NAMES[at]),
  }
  const decimals = [6, 18, undefined][at]
  const erc20Token = {
    ...token,
    symbol: ['USDX', '=W', ''][at] ?? '',
    ...(decimals === undefined ? {} : { decimals }),
  }
  return { from: partyOf(chainModel), to: partyOf(chainModel), logIndex, value: amountOf(random), erc20Token }
}

function newErc721(chainModel: ChainModel, logIndex: number): Erc721 {
  const { random } = chainModel
  const erc721Token: Erc721['erc721Token'] = {
    address: TOKENS[3] ?? '',
    name: 'Punks, all of them',
    symbol: '+PNK',
    ercType: 'ERC-721',
    tokenId: String(random.between(0, 20)),
    tokenUri: 'ipfs://x',
    ...(random.next() < 0.5
      ? {
          metadata: {
            indexStatus: 'INDEXED',
            metadataLastUpdatedTimestamp: 1_700_000_000,
            name: 'Nº 7',
            attributes: '[{"a":"b,c"}]',
          },
        }
      : {}),
  }
  return { from: partyOf(chainModel), to: partyOf(chainModel), logIndex, erc721Token }
}

function newBatch(chainModel: ChainModel, logIndex: number): Erc1155[] {
  const { random } = chainModel
  const [from, to] = [partyOf(chainModel), partyOf(chainModel)]
  const entry = (): Erc1155 => ({
    ...{ from, to, logIndex },
    value: random.pick(['1', '7', '0']),
    erc1155Token: {
      address: TOKENS[4] ?? '',
      ercType: 'ERC-1155',
      tokenId: String(random.between(1, 3)),
      tokenUri: '',
      metadata: {
        indexStatus: 'indexed',
        description: 'x\ny',
        ...(random.next() < 0.5 ? { decimals: 2 } : {}),
      },
    },
  })
  return Array.from({ length: random.between(1, 3) }, entry)
}

function newInternal(chainModel: ChainModel): Internal {
  const { random } = chainModel
  return {
    from: partyOf(chainModel),
    to: partyOf(chainModel),
    internalTxType: random.pick(['CALL', 'CREATE', 'DELEGATECALL', 'UNKNOWN', 'STATICCALL']),
    value: amountOf(random),
    isReverted: random.next() < 0.2,
    gasUsed: '100',
    gasLimit: '200',
  }
}

/**
 * Reorganizes the chain from block `from` on. The hashes of these blocks change. Of their transactions, some remain, some
 * move to another of these blocks, some disappear, and new ones are added.
 */
export function reorg(chainModel: ChainModel, from: number, runIndex: number): void {
  const { random } = chainModel
  const replaced = chainModel.blocks.filter(({ number }) => number >= from)
  const displaced: TransactionContent[] = []
  for (const block of replaced) {
    block.hash = newHash(chainModel)
    const retained = block.transactions.filter(() => random.next() < 0.5)
    displaced.push(
      ...block.transactions.filter((content) => !retained.includes(content) && random.next() < 0.6),
    )
    block.transactions = retained
  }
  for (const content of displaced) random.pick(replaced).transactions.push(content)
  for (const block of replaced) if (random.next() < 0.3) fillBlock(chainModel, block, runIndex)
}

/** Delays some transactions of the blocks from `from` on: the API lists them only from the run `since` on. */
export function delayIndexing(chainModel: ChainModel, from: number, since: number): void {
  for (const { number, transactions } of chainModel.blocks)
    for (const content of transactions)
      if (number >= from && chainModel.random.next() < 0.4) content.since = since
}

/** A transaction with its position in the chain. */
export type PlacedTransaction = { block: Block; index: number; content: TransactionContent }

/** The transactions that the API lists in this run, in chain order. */
export function listedTransactions(chainModel: ChainModel, runIndex: number): PlacedTransaction[] {
  return chainModel.blocks.flatMap((block) =>
    block.transactions
      .map((content, index) => ({ block, index, content }))
      .filter(({ content }) => content.since <= runIndex),
  )
}

/** A wallet's view of a transaction; undefined if the wallet is not involved. */
export function viewOf(content: TransactionContent, wallet: string): TransactionContent | undefined {
  const involves = ({ from, to }: { from: Party; to: Party }) =>
    from.address === wallet || to.address === wallet
  const view = {
    ...content,
    erc20: content.erc20.filter(involves),
    erc721: content.erc721.filter(involves),
    erc1155: content.erc1155.filter(involves),
    internal: content.internal.filter(involves),
  }
  const entries = [view.erc20, view.erc721, view.erc1155, view.internal]
  return involves(content) || entries.some((list) => list.length > 0) ? view : undefined
}
