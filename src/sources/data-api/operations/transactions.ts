import { createAdaptivePageSize } from '../../adaptive-page-size.ts'
import type { BlockTransactionsPage, TransactionDetails, WalletTransactionsPage } from '../resources.ts'
import {
  type Call,
  type CallOptions,
  followPages,
  PAGE_SIZE,
  type PageHandling,
  type Paging,
  type PathSegment,
  pageReader,
  path,
  queryOf,
  readObject,
} from './call.ts'

/** A wallet and the part of its history to list (interface section 4.3). */
export type WalletTransactionsQuery = Paging & {
  /** EVM chain id or blockchain id. */
  chainId: PathSegment
  /** Wallet address, in any letter case. */
  address: string
  /** First block. @default genesis */
  startBlock?: number | bigint | undefined
  /** End block, exclusive. @default up to the newest block */
  endBlock?: number | bigint | undefined
  /** Order by time. Always sent, because services differ in their default. @default asc */
  sortOrder?: 'asc' | 'desc' | undefined
  /** Additional parameters of a service. The interface mentions a sort-by parameter without its name. */
  extraParameters?: Readonly<Record<string, string>> | undefined
}

/** A block and the part of it to list (interface section 4.1). */
export type BlockTransactionsQuery = {
  /** EVM chain id or blockchain id. */
  chainId: PathSegment
  /** Number or hash of the block. */
  blockId: PathSegment
  /** Token of an earlier page, to start after it. */
  pageToken?: string | undefined
  /** Items per page, 0 to 100; 0 leaves it to the service. @default 100 */
  pageSize?: number | undefined
}

/** A transaction by its hash. */
export type TransactionQuery = {
  /** EVM chain id or blockchain id. */
  chainId: PathSegment
  txHash: string
}

export type TransactionOperations = {
  /**
   * Lists the transactions of a wallet, page by page (interface section 4.3). Each page is requested when the
   * loop reaches it; several block ranges can be listed concurrently.
   */
  listWalletTransactions(
    query: WalletTransactionsQuery,
    options?: CallOptions,
  ): AsyncGenerator<WalletTransactionsPage, void, void>
  /** Gets one page of a wallet's transactions (interface section 4.3): the first, or the one after `pageToken`. */
  walletTransactionsPage(
    query: WalletTransactionsQuery,
    options?: CallOptions,
  ): Promise<WalletTransactionsPage>
  /** Lists the transactions of a block, page by page (interface section 4.1). */
  listBlockTransactions(
    query: BlockTransactionsQuery,
    options?: CallOptions,
  ): AsyncGenerator<BlockTransactionsPage, void, void>
  /** Gets one page of a block's transactions (interface section 4.1): the first, or the one after `pageToken`. */
  blockTransactionsPage(query: BlockTransactionsQuery, options?: CallOptions): Promise<BlockTransactionsPage>
  /**
   * Gets one transaction with all its transfers and internal calls, unfiltered. The interface names the
   * endpoint (section 4.3) without its shape: a service may respond with 404.
   */
  getTransaction(query: TransactionQuery, options?: CallOptions): Promise<TransactionDetails>
}

/** Creates the operations that read transactions. */
export function transactionOperations(call: Call): TransactionOperations {
  const [walletSize, blockSize] = [createAdaptivePageSize(), createAdaptivePageSize()]
  const walletPage = (query: WalletTransactionsQuery, options?: CallOptions, handling?: PageHandling) =>
    call(
      { ...walletPageSpec(query), ...handling },
      pageReader<WalletTransactionsPage>('transactions'),
      options,
    )
  const blockPage = (query: BlockTransactionsQuery, options?: CallOptions, handling?: PageHandling) =>
    call({ ...blockPageSpec(query), ...handling }, pageReader<BlockTransactionsPage>('transactions'), options)
  return {
    walletTransactionsPage: async (query, options) => walletPage(query, options),
    listWalletTransactions: (query, options) =>
      followPages(
        (paging, handling) => walletPage({ ...query, ...paging }, options, handling),
        query,
        walletSize,
      ),
    blockTransactionsPage: async (query, options) => blockPage(query, options),
    listBlockTransactions: (query, options) =>
      followPages(
        (paging, handling) => blockPage({ ...query, ...paging }, options, handling),
        query,
        blockSize,
      ),
    getTransaction: async (query, options) =>
      call(transactionSpec(query), readObject<TransactionDetails>, options),
  }
}

function walletPageSpec({ chainId, address, extraParameters, ...query }: WalletTransactionsQuery) {
  const { pageSize = PAGE_SIZE, sortOrder = 'asc', startBlock, endBlock, pageToken } = query
  const parameters = { ...extraParameters, pageSize, sortOrder, startBlock, endBlock, pageToken }
  return {
    method: 'GET' as const,
    pathAndQuery: path`/v1/chains/${chainId}/addresses/${address}/transactions` + queryOf(parameters),
    description: `transactions of wallet ${address}`,
  }
}

function blockPageSpec({ chainId, blockId, pageSize = PAGE_SIZE, pageToken }: BlockTransactionsQuery) {
  return {
    method: 'GET' as const,
    pathAndQuery:
      path`/v1/chains/${chainId}/blocks/${blockId}/transactions` + queryOf({ pageSize, pageToken }),
    description: `transactions of block ${blockId}`,
  }
}

function transactionSpec({ chainId, txHash }: TransactionQuery) {
  return {
    method: 'GET' as const,
    pathAndQuery: path`/v1/chains/${chainId}/transactions/${txHash}`,
    description: `transaction ${txHash}`,
  }
}
