/**
 * The fields of a resource in a response, with the names and types of the interface. Each may be absent or
 * null, because the interface guarantees none. Additional fields remain in the object.
 */
export type ResponseFields<Fields> = { [Field in keyof Fields]?: Fields[Field] | null }

/** Known values, which a service may extend. */
export type OpenEnum<Known extends string> = Known | (string & {})

/**
 * A number, as a JSON number or as decimal text: services differ. The interface carries block numbers, gas,
 * values, nonces and token ids as text, which is exact; a JSON number above 2^53 loses digits when it is
 * parsed.
 */
export type Numeric = number | string

/** A page of a listing. On the last one, the token is absent, null or empty. */
export type Paged<Items> = Items & { nextPageToken?: string | null }

/** A page of a wallet's transactions (interface section 4.3). */
export type WalletTransactionsPage = Paged<{ transactions: WalletTransaction[] }>

/** A page of a block's transactions (interface section 4.1). */
export type BlockTransactionsPage = Paged<{ transactions: NativeTransaction[] }>

/** A page of webhooks. */
export type WebhooksPage = Paged<{ webhooks: Webhook[] }>

/** A page of the addresses of a webhook. */
export type WebhookAddressesPage = Paged<{ addresses: string[]; totalAddresses?: Numeric | null }>

/**
 * A supported chain. The interface names the endpoint (section 1) without its shape; this is the shape of a
 * known service.
 */
export type Chain = ResponseFields<{
  chainId: Numeric
  /** `UNAVAILABLE`: requests that need the chain's nodes may fail with 503. */
  status: OpenEnum<'OK' | 'UNAVAILABLE'>
  chainName: string
  description: string
  platformChainId: string
  subnetId: string
  vmId: string
  vmName: OpenEnum<'EVM'>
  explorerUrl: string
  rpcUrl: string
  wsUrl: string
  isTestnet: boolean
  utilityAddresses: ResponseFields<{ multicall: string }>
  networkToken: NetworkToken
  chainLogoUri: string
  private: boolean
  enabledFeatures: string[]
}>

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

/** A balance in the smallest unit, as decimal text. It is checked when a response is read. */
type WithBalance = { balance: string }

/** A wallet's balance of the native coin. */
export type NativeBalance = WithBalance & NetworkToken & ResponseFields<{ chainId: Numeric }>

/** A wallet's balance of an ERC-20 token. */
export type Erc20Balance = WithBalance &
  Omit<Erc20Token, 'address'> & { address: string } & ResponseFields<{
    chainId: Numeric
    tokenReputation: OpenEnum<'Malicious' | 'Benign'>
  }>

/** A wallet's balance of one token id of an ERC-1155 contract. */
export type Erc1155Balance = WithBalance & { address: string; tokenId: string } & ResponseFields<{
    chainId: Numeric
    ercType: OpenEnum<'ERC-1155'>
  }>

/** An ERC-721 token of a wallet. */
export type Erc721Balance = { address: string; tokenId: string } & ResponseFields<{
  chainId: Numeric
  name: string
  symbol: string
  ercType: OpenEnum<'ERC-721'>
}>

/** Kind of events that a webhook sends (interface section 2.9). */
export type EventType = OpenEnum<'address_activity'>

/** `active` after creation (interface section 3); other values depend on the service. */
export type WebhookStatus = OpenEnum<'active' | 'inactive'>

/** A webhook for addresses of one chain (interface section 2.9). */
export type Webhook = ResponseFields<{
  id: string
  eventType: EventType
  /** Receiver of the events. */
  url: string
  chainId: Numeric
  status: WebhookStatus
  /** The interface does not state its unit. */
  createdAt: Numeric
  name: string
  description: string
  metadata: ResponseFields<{
    /** Watched addresses. */
    addresses: string[]
    /** Hexadecimal; the interface does not describe their meaning. */
    eventSignatures: string[]
  }>
  /** Whether events include traces. */
  includeInternalTxs: boolean
  /** Whether events include logs. */
  includeLogs: boolean
}>

/** A webhook to be created (interface section 4.4). */
export type NewWebhook = {
  eventType: EventType
  /** Receiver of the events. */
  url: string
  /** Chain to watch. */
  chainId: string
  metadata: {
    /** Addresses to watch; at most 5 on a free plan, according to the interface. */
    addresses: readonly string[]
    /** Hexadecimal. */
    eventSignatures?: readonly string[] | undefined
  }
  name?: string | undefined
  description?: string | undefined
  /** Include traces in the events; available on chains 43113 and 43114 only. */
  includeInternalTxs?: boolean | undefined
  /** Include logs in the events. */
  includeLogs?: boolean | undefined
}

/** The fields of a webhook that can be changed. Addresses have separate operations. */
export type WebhookChanges = {
  name?: string | undefined
  description?: string | undefined
  url?: string | undefined
  status?: WebhookStatus | undefined
  includeInternalTxs?: boolean | undefined
  includeLogs?: boolean | undefined
}
