import type { Numeric, OpenEnum, ResponseFields } from './response-fields.ts'

/** A party of a transaction or transfer (interface section 2.1). */
export type Party = ResponseFields<{
  name: string
  symbol: string
  decimals: Numeric
  /** URL of a logo. */
  logoUri: string
  /** Hexadecimal, in any letter case. Empty if there is none, as in the creation of a contract. */
  address: string
}>

/** How a transaction called its receiver (interface section 2.3). */
export type Method = ResponseFields<{
  callType: OpenEnum<'NATIVE_TRANSFER' | 'CONTRACT_CALL' | 'CONTRACT_CREATION'>
  /** Hexadecimal selector of four bytes. */
  methodHash: string
  /** Signature, like `transfer(address,uint256)`. */
  methodName: string
}>

/** A transaction without its transfers and internal calls (interface section 2.2). */
export type NativeTransaction = ResponseFields<{
  blockNumber: Numeric
  /** Unix seconds. */
  blockTimestamp: Numeric
  /** Unix milliseconds. */
  blockTimestampMilliseconds: Numeric
  blockMinDelayExcess: Numeric
  blockHash: string
  chainId: Numeric
  /** Position of the transaction in its block, from 0. */
  blockIndex: Numeric
  txHash: string
  /** `1` on success, `0` on failure. */
  txStatus: OpenEnum<'0' | '1'> | number
  txType: Numeric
  gasLimit: Numeric
  gasUsed: Numeric
  /** Smallest units per unit of gas. */
  gasPrice: Numeric
  nonce: Numeric
  from: Party
  to: Party
  method: Method
  /** Smallest units (wei). */
  value: Numeric
}>

/** An ERC-20 transfer (interface section 2.4). */
export type Erc20Transfer = ResponseFields<{
  from: Party
  to: Party
  logIndex: Numeric
  /** Smallest units of the token. */
  value: Numeric
  erc20Token: Erc20Token
}>

/** A fungible token (interface section 2.4). */
export type Erc20Token = ResponseFields<{
  address: string
  name: string
  symbol: string
  decimals: Numeric
  logoUri: string
  ercType: OpenEnum<'ERC-20'>
  /** Price at the time of the response, not of the transaction. */
  price: Price
}>

/** A price of one whole token. */
export type Price = ResponseFields<{
  /** Lower-case currency code. */
  currencyCode: string
  value: Numeric
}>

/** An ERC-721 transfer (interface section 2.5). */
export type Erc721Transfer = ResponseFields<{
  from: Party
  to: Party
  logIndex: Numeric
  erc721Token: Erc721Token
}>

/** A token of an ERC-721 collection (interface section 2.5). */
export type Erc721Token = ResponseFields<{
  address: string
  name: string
  symbol: string
  ercType: OpenEnum<'ERC-721'>
  tokenId: Numeric
  tokenUri: string
  metadata: Erc721Metadata
  ownerAddress: string
}>

type NftMetadata = {
  /** Upper case at one service; the interface shows `indexed`. */
  indexStatus: OpenEnum<
    | 'indexed'
    | 'INDEXED'
    | 'UNINDEXED'
    | 'UNKNOWN'
    | 'MISSING_TOKEN'
    | 'INVALID_TOKEN_URI'
    | 'INVALID_TOKEN_URI_SCHEME'
    | 'UNREACHABLE_TOKEN_URI'
    | 'THROTTLED_TOKEN_URI'
    | 'METADATA_CONTENT_TOO_LARGE'
    | 'INVALID_METADATA'
    | 'INVALID_METADATA_JSON'
  >
  metadataLastUpdatedTimestamp: Numeric
  name: string
  symbol: string
  imageUri: string
  description: string
  animationUri: string
  externalUrl: string
  background: string
}

/** Metadata that a service read from the token's URI (interface section 2.5). */
export type Erc721Metadata = ResponseFields<
  NftMetadata & {
    /** JSON text. */
    attributes: string
  }
>

/** An ERC-1155 transfer: one entry of a single or batch transfer (interface section 2.6). */
export type Erc1155Transfer = ResponseFields<{
  from: Party
  to: Party
  logIndex: Numeric
  value: Numeric
  erc1155Token: Erc1155Token
}>

/** A token of an ERC-1155 contract (interface section 2.6). */
export type Erc1155Token = ResponseFields<{
  address: string
  ercType: OpenEnum<'ERC-1155'>
  tokenId: Numeric
  tokenUri: string
  metadata: Erc1155Metadata
}>

/** Metadata that a service read from the token's URI (interface section 2.6). */
export type Erc1155Metadata = ResponseFields<
  NftMetadata & {
    decimals: Numeric
    /** JSON text. */
    properties: string
  }
>

/** A call or creation inside a transaction (interface section 2.7). */
export type InternalTransaction = ResponseFields<{
  from: Party
  to: Party
  internalTxType: OpenEnum<
    'UNKNOWN' | 'CALL' | 'CREATE' | 'CREATE2' | 'CREATE3' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL'
  >
  /** Smallest units (wei). */
  value: Numeric
  isReverted: boolean
  gasUsed: Numeric
  gasLimit: Numeric
}>

type CompleteTransaction = {
  nativeTransaction: NativeTransaction
  erc20Transfers: Erc20Transfer[]
  erc721Transfers: Erc721Transfer[]
  erc1155Transfers: Erc1155Transfer[]
  internalTransactions: InternalTransaction[]
}

/**
 * An item of the wallet listing (interface section 2.8). Its lists contain only entries from or to the
 * requested address: it may be a partial view of the transaction.
 */
export type WalletTransaction = ResponseFields<CompleteTransaction>

/**
 * One transaction with all its transfers and internal calls, unfiltered. The interface names it (section
 * 4.3); the shape is that of a known service.
 */
export type TransactionDetails = ResponseFields<
  Omit<CompleteTransaction, 'nativeTransaction'> & {
    nativeTransaction: NativeTransaction & ResponseFields<NativeDetails>
    networkTokenDetails: ResponseFields<{
      networkToken: NetworkToken
      currentPrice: Price
      historicalPrice: Price
    }>
  }
>

type NativeDetails = {
  /** Call data, hexadecimal. */
  input: string
  baseFeePerGas: Numeric
  maxFeePerGas: Numeric
  maxPriorityFeePerGas: Numeric
}

/** A chain's native token. */
export type NetworkToken = ResponseFields<{
  name: string
  symbol: string
  decimals: Numeric
  logoUri: string
  description: string
}>
