import { createHash } from 'node:crypto'
import type { SeededRandom } from '../seeded-random.ts'
import type {
  ChainModel,
  Erc20,
  Erc721,
  Erc1155,
  InternalCall,
  Party,
  TransactionContent,
} from './chain-types.ts'

const ZERO = `0x${'0'.repeat(40)}`
/** Names that need quoting, escaping or Unicode in some format. */
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
/** Addresses that belong to no wallet of the chain. */
export const OTHER_PARTIES = ['router', 'pool', 'friend', 'exchange'].map(addressOf)
const TOKENS = ['usdx', 'weth', 'odd', 'punks', 'items'].map(addressOf)

/** A hash that no block or transaction of the chain uses yet. */
export function newHash(chainModel: ChainModel): string {
  chainModel.hashCount += 1
  return `0x${hex(`${chainModel.hashCount} ${chainModel.wallets[0]}`, 64)}`
}

/** A transaction with random values, transfers and internal calls. */
export function newTransaction(chainModel: ChainModel, since: number): TransactionContent {
  const { random } = chainModel
  const status = random.next() < 0.85 ? '1' : '0'
  const from = partyOf(chainModel)
  const type = random.pick([0, 2])
  const content: TransactionContent = {
    hash: newHash(chainModel),
    status,
    type,
    nonce: String(random.between(0, 1_000)),
    from,
    to: random.next() < 0.05 ? { address: '' } : random.next() < 0.08 ? from : partyOf(chainModel),
    value: amountOf(random),
    gasLimit: '90000',
    gasUsed: String(random.between(21_000, 90_000)),
    ...pricesOf(random, type),
    method: {
      callType: 'CONTRACT_CALL',
      methodHash: '0xa9059cbb',
      ...optional('methodName', nameOf(random)),
    },
    erc20: [],
    erc721: [],
    erc1155: [],
    internal: [],
    since,
    earlierVersions: [],
  }
  addEntries(chainModel, content)
  return content
}

/** A price of 0 does not tell whether the service knows it, so no details are requested for it. */
function pricesOf(random: SeededRandom, type: number): Pick<TransactionContent, 'gasPrice' | 'feeCap'> {
  const gasPrice = random.pick(['25000000000', '1', type === 2 ? '7' : '0', '470000000000'])
  return { gasPrice, feeCap: String(BigInt(gasPrice) + random.pick([0n, 1n, 90_000_000_000n])) }
}

function addEntries(chainModel: ChainModel, content: TransactionContent): void {
  const { random } = chainModel
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
  // Two identical calls in one transaction.
  const [twice] = content.internal
  if (twice !== undefined && random.next() < 0.3) content.internal.push({ ...twice })
  if (random.next() < 0.15) content.internal.unshift(topLevelCall(content))
}

/** The transaction's own call, which some tracers list first. */
function topLevelCall({ from, to, value, gasUsed, gasLimit }: TransactionContent): InternalCall {
  return { from, to, value, gasUsed, gasLimit, internalTxType: 'CALL', isReverted: false }
}

const optional = <N extends string>(name: N, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [K in N]?: string }

function partyOf(chainModel: ChainModel): Party {
  const { random, wallets } = chainModel
  const roll = random.next()
  const address = roll < 0.55 ? random.pick(wallets) : roll < 0.65 ? ZERO : random.pick(OTHER_PARTIES)
  // An address has the same name in every view.
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
    from,
    to,
    logIndex,
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

function newInternal(chainModel: ChainModel): InternalCall {
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
