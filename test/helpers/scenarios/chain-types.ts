import type { SeededRandom } from '../seeded-random.ts'

export type Party = { address: string; name?: string }
export type Erc20 = {
  from: Party
  to: Party
  logIndex: number
  value: string
  erc20Token: { address: string; name?: string; symbol?: string; decimals?: number; ercType: 'ERC-20' }
}
export type Erc721 = {
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
export type Erc1155 = {
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
export type InternalCall = {
  from: Party
  to: Party
  internalTxType: string
  value: string
  isReverted: boolean
  gasUsed: string
  gasLimit: string
}

/** Transfers and internal calls of a transaction: what the service can list differently after it has re-indexed the transaction. */
export type TransactionEntries = {
  erc20: Erc20[]
  erc721: Erc721[]
  erc1155: Erc1155[]
  internal: InternalCall[]
}

/** What a transaction holds, whichever block includes it. */
export type TransactionContent = TransactionEntries & {
  hash: string
  status: '0' | '1'
  type: number
  nonce: string
  from: Party
  to: Party
  value: string
  gasLimit: string
  gasUsed: string
  /** The price that was paid, in wei. */
  gasPrice: string
  /** The highest price that the sender of a transaction of type 2 would have paid, in wei. */
  feeCap: string
  method: { callType: string; methodHash: string; methodName?: string }
  /** Index of the first run whose requests list the transaction. */
  since: number
  /** The entries that the service listed before each re-indexing, oldest first. */
  earlierVersions: TransactionEntries[]
}

export type Block = { number: number; hash: string; timeMs: number; transactions: TransactionContent[] }

export type ChainModel = {
  blocks: Block[]
  wallets: string[]
  random: SeededRandom
  /** Whether items state the block time in milliseconds. */
  givesMs: boolean
  hashCount: number
}

/** A transaction at its position in the chain. */
export type PlacedTransaction = { block: Block; index: number; content: TransactionContent }
