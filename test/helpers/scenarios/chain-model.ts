// An independent witness on purpose: a made-up chain that shares no code with what the program reads and writes.
import { createHash } from 'node:crypto'
import type { Dice } from '../seeded-random.ts'

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

/** What a transaction says wherever it stands. */
export type Content = {
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
  /** The first night that its index lists it. */
  since: number
}
type Block = { number: number; hash: string; timeMs: number; transactions: Content[] }
export type World = { blocks: Block[]; wallets: string[]; dice: Dice; givesMs: boolean; makes: number }

const ZERO = `0x${'0'.repeat(40)}`
/** Names that strangers give, and none. */
const NAMES = [
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
const STRANGERS = ['router', 'pool', 'friend', 'exchange'].map(addressOf)
const TOKENS = ['usdx', 'weth', 'odd', 'punks', 'items'].map(addressOf)

/** A chain with no block yet; it has several blocks a second. */
export function newWorld({ dice, wallets }: { dice: Dice; wallets: number }): World {
  const all = Array.from({ length: wallets }, (_, at) => addressOf(`wallet ${at}`))
  return { blocks: [], wallets: all, dice, givesMs: dice.next() < 0.5, makes: 0 }
}

/** Adds so many blocks; those that are young were made after any run began. */
export function growWorld(
  world: World,
  { blocks, night, areYoung = false }: { blocks: number; night: number; areYoung?: boolean },
): void {
  for (let made = 0; made < blocks; made += 1) {
    const last = world.blocks.at(-1)
    const number = (last?.number ?? 0) + 1
    const timeMs = Math.max(areYoung ? YOUNG_MS : 0, timeAfter(world, last))
    const block = { number, hash: newHash(world), timeMs, transactions: [] }
    world.blocks.push(block)
    fillBlock(world, block, night)
  }
}

/** Times from the year 2100 on are those of young blocks. */
const YOUNG_MS = Date.UTC(2100, 0)

export const isYoung = ({ timeMs }: Block) => timeMs >= YOUNG_MS

const timeAfter = ({ dice }: World, last: Block | undefined) =>
  (last?.timeMs ?? 1_700_000_000_000) + dice.pick([0, 150, 400, 900, 2_000, 90_000_000])

/** Young blocks of the night before are as old as any others now. */
export function ageBlocks(world: World): void {
  for (const [at, block] of world.blocks.entries())
    if (isYoung(block)) block.timeMs = timeAfter(world, world.blocks[at - 1])
}

function fillBlock(world: World, block: Block, night: number): void {
  const count = world.dice.pick([0, 0, 1, 1, 2, 3])
  for (let made = 0; made < count; made += 1) block.transactions.push(newContent(world, night))
}

function newHash(world: World): string {
  world.makes += 1
  return `0x${hex(`${world.makes} ${world.wallets[0]}`, 64)}`
}

function newContent(world: World, since: number): Content {
  const { dice } = world
  const status = dice.next() < 0.85 ? '1' : '0'
  const from = partyOf(world)
  const content: Content = {
    hash: newHash(world),
    status,
    type: dice.pick([0, 2]),
    nonce: String(dice.between(0, 1_000)),
    from,
    to: dice.next() < 0.05 ? { address: '' } : dice.next() < 0.08 ? from : partyOf(world),
    value: amountOf(dice),
    gasLimit: '90000',
    gasUsed: String(dice.between(21_000, 90_000)),
    gasPrice: dice.pick(['25000000000', '1', '0', '470000000000']),
    method: { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb', ...optional('methodName', nameOf(dice)) },
    ...{ erc20: [], erc721: [], erc1155: [], internal: [] },
    since,
  }
  let log = dice.between(0, 3)
  const nextLog = () => (log += dice.between(1, 2))
  const times = () => dice.pick([0, 0, 0, 1, 2, 3])
  for (let left = times(); left > 0; left -= 1) content.erc20.push(newErc20(world, nextLog()))
  for (let left = times(); left > 1; left -= 1) content.erc721.push(newErc721(world, nextLog()))
  for (let left = times(); left > 1; left -= 1) content.erc1155.push(...newBatch(world, nextLog()))
  for (let left = times(); left > 0; left -= 1) content.internal.push(newInternal(world))
  // The same call twice in one transaction.
  const [twice] = content.internal
  if (twice !== undefined && dice.next() < 0.3) content.internal.push({ ...twice })
  return content
}

const optional = <N extends string>(name: N, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [K in N]?: string }

function partyOf(world: World): Party {
  const { dice, wallets } = world
  const roll = dice.next()
  const address = roll < 0.55 ? dice.pick(wallets) : roll < 0.65 ? ZERO : dice.pick(STRANGERS)
  // A party has the same name in every view.
  const name =
    Number.parseInt(address.slice(-2), 16) % 3 === 0
      ? NAMES[Number.parseInt(address.slice(-4), 16) % NAMES.length]
      : undefined
  return { address, ...(name === undefined ? {} : { name }) }
}

const nameOf = (dice: Dice) => (dice.next() < 0.4 ? undefined : dice.pick(NAMES))
const amountOf = (dice: Dice) =>
  dice.pick([
    '0',
    '1',
    '1000000000000000000',
    '123456789012345678901234567890',
    (2n ** 256n - 1n).toString(),
    '500',
  ])

function newErc20(world: World, logIndex: number): Erc20 {
  const { dice } = world
  const at = dice.between(0, 2)
  const token = { address: TOKENS[at] ?? '', ercType: 'ERC-20' as const, ...optional('name', NAMES[at]) }
  const decimals = [6, 18, undefined][at]
  const erc20Token = {
    ...token,
    symbol: ['USDX', '=W', ''][at] ?? '',
    ...(decimals === undefined ? {} : { decimals }),
  }
  return { from: partyOf(world), to: partyOf(world), logIndex, value: amountOf(dice), erc20Token }
}

function newErc721(world: World, logIndex: number): Erc721 {
  const { dice } = world
  const erc721Token: Erc721['erc721Token'] = {
    address: TOKENS[3] ?? '',
    name: 'Punks, all of them',
    symbol: '+PNK',
    ercType: 'ERC-721',
    tokenId: String(dice.between(0, 20)),
    tokenUri: 'ipfs://x',
    ...(dice.next() < 0.5
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
  return { from: partyOf(world), to: partyOf(world), logIndex, erc721Token }
}

function newBatch(world: World, logIndex: number): Erc1155[] {
  const { dice } = world
  const [from, to] = [partyOf(world), partyOf(world)]
  const entry = (): Erc1155 => ({
    ...{ from, to, logIndex },
    value: dice.pick(['1', '7', '0']),
    erc1155Token: {
      address: TOKENS[4] ?? '',
      ercType: 'ERC-1155',
      tokenId: String(dice.between(1, 3)),
      tokenUri: '',
      metadata: {
        indexStatus: 'indexed',
        description: 'x\ny',
        ...(dice.next() < 0.5 ? { decimals: 2 } : {}),
      },
    },
  })
  return Array.from({ length: dice.between(1, 3) }, entry)
}

function newInternal(world: World): Internal {
  const { dice } = world
  return {
    from: partyOf(world),
    to: partyOf(world),
    internalTxType: dice.pick(['CALL', 'CREATE', 'DELEGATECALL', 'UNKNOWN', 'STATICCALL']),
    value: amountOf(dice),
    isReverted: dice.next() < 0.2,
    gasUsed: '100',
    gasLimit: '200',
  }
}

/**
 * Replaces the blocks from `from` on: their hashes and times change; of their transactions some stay, some move to another of
 * these blocks, some are gone, and new ones come.
 */
export function reorganise(world: World, from: number, night: number): void {
  const { dice } = world
  const replaced = world.blocks.filter(({ number }) => number >= from)
  const homeless: Content[] = []
  for (const block of replaced) {
    block.hash = newHash(world)
    const kept = block.transactions.filter(() => dice.next() < 0.5)
    homeless.push(...block.transactions.filter((content) => !kept.includes(content) && dice.next() < 0.6))
    block.transactions = kept
  }
  for (const content of homeless) dice.pick(replaced).transactions.push(content)
  for (const block of replaced) if (dice.next() < 0.3) fillBlock(world, block, night)
}

/** The index lists some transactions of blocks from `from` on only from a later night on. */
export function delay(world: World, from: number, since: number): void {
  for (const { number, transactions } of world.blocks)
    for (const content of transactions) if (number >= from && world.dice.next() < 0.4) content.since = since
}

/** A transaction where it stands in the chain. */
export type Placed = { block: Block; index: number; content: Content }

/** What the index lists by that night, in chain order. */
export function listed(world: World, night: number): Placed[] {
  return world.blocks.flatMap((block) =>
    block.transactions
      .map((content, index) => ({ block, index, content }))
      .filter(({ content }) => content.since <= night),
  )
}

/** A wallet's view of a transaction; undefined where it takes no part in it. */
export function viewOf(content: Content, wallet: string): Content | undefined {
  const touches = ({ from, to }: { from: Party; to: Party }) =>
    from.address === wallet || to.address === wallet
  const view = {
    ...content,
    erc20: content.erc20.filter(touches),
    erc721: content.erc721.filter(touches),
    erc1155: content.erc1155.filter(touches),
    internal: content.internal.filter(touches),
  }
  const entries = [view.erc20, view.erc721, view.erc1155, view.internal]
  return touches(content) || entries.some((list) => list.length > 0) ? view : undefined
}
