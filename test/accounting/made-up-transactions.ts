import type { JsonObject } from '../../src/demo-server/json.ts'

export const address = (digit: string): string => `0x${digit.repeat(40)}`
const hash = (n: number, kind: string) => `0x${kind}${String(n).padStart(63, '0')}`

/** Two wallets of one owner, with labels that need quoting. */
export const ANN = address('a')
export const BEN = address('b')
export const WALLETS = [
  { address: ANN, label: 'Ann, main' },
  { address: BEN, label: 'Büro "2"' },
]

type Parties = readonly [from: string, to: string]
type Entries = {
  erc20?: JsonObject[]
  erc721?: JsonObject[]
  erc1155?: JsonObject[]
  internal?: JsonObject[]
}
type Native = {
  at: string
  parties: Parties
  value?: bigint
  method?: string
  methodHash?: string
  callType?: string
  failed?: boolean
}

/** The block and the log that were numbered last. */
type Position = { chain: string; block: number; logIndex: number }

/** Creates the functions that build the transactions of a chain. Each chain numbers its blocks and logs independently. */
export function createChain(chain = '43114') {
  const last: Position = { chain, block: 100, logIndex: 0 }
  return {
    transaction: (native: Native, entries?: Entries) => transactionAfter(last, native, entries),
    erc20: (token: JsonObject, parties: Parties, value: bigint) =>
      erc20After(last, { token, parties, value }),
    nft: (kind: '721' | '1155', parties: Parties, counted: { id: string; count?: number }) =>
      nftAfter(last, { kind, parties, ...counted }),
  }
}

const between = ([from, to]: Parties) => ({ from: { address: from }, to: { address: to } })

function timesOf(at: string) {
  const time = Date.parse(at)
  const seconds = { blockTimestamp: Math.floor(time / 1_000) }
  return time % 1_000 === 0 ? seconds : { ...seconds, blockTimestampMilliseconds: time }
}

/** A transaction as the service lists it. Each has the next block of its own. */
function transactionAfter(last: Position, native: Native, entries: Entries = {}) {
  const { at, parties, value = 0n, failed = false } = native
  const { method = '', methodHash = '0x12345678', callType = 'CONTRACT_CALL' } = native
  last.block += 1
  const { block } = last
  return {
    nativeTransaction: {
      blockNumber: String(block),
      ...timesOf(at),
      blockHash: hash(block, 'b'),
      chainId: last.chain,
      blockIndex: 0,
      txHash: hash(block, 'f'),
      txStatus: failed ? '0' : '1',
      txType: 2,
      gasLimit: '100000',
      gasUsed: '50000',
      gasPrice: '25000000001',
      nonce: String(block),
      ...between(parties),
      method: { callType, methodHash, methodName: method },
      value: String(value),
    },
    erc20Transfers: entries.erc20 ?? [],
    erc721Transfers: entries.erc721 ?? [],
    erc1155Transfers: entries.erc1155 ?? [],
    internalTransactions: entries.internal ?? [],
  }
}

function erc20After(
  last: Position,
  { token, parties, value }: { token: JsonObject; parties: Parties; value: bigint },
): JsonObject {
  last.logIndex += 1
  const { logIndex } = last
  return { ...between(parties), logIndex, value: String(value), erc20Token: { ...token, ercType: 'ERC-20' } }
}

type Nft = { kind: '721' | '1155'; parties: Parties; id: string; count?: number }

function nftAfter(last: Position, { kind, parties, id, count }: Nft): JsonObject {
  last.logIndex += 1
  const { logIndex } = last
  const metadata = { indexStatus: 'UNKNOWN' }
  const token = { address: address('7'), name: 'Apes', symbol: 'APE', ercType: `ERC-${kind}`, tokenId: id }
  return kind === '721'
    ? { ...between(parties), logIndex, erc721Token: { ...token, tokenUri: '', metadata } }
    : {
        ...between(parties),
        logIndex,
        value: String(count),
        erc1155Token: { ...token, tokenUri: '', metadata },
      }
}

/** Coins that a contract pays. */
export const coins = (parties: Parties, value: bigint): JsonObject => ({
  ...between(parties),
  internalTxType: 'CALL',
  value: String(value),
  isReverted: false,
  gasUsed: '0',
  gasLimit: '9',
})
