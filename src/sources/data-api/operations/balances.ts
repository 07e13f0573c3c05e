import { createAdaptivePageSize } from '../../adaptive-page-size.ts'
import type { Erc20Balance, Erc721Balance, Erc1155Balance, NativeBalance, Paged } from '../resources.ts'
import {
  type Call,
  type CallOptions,
  followPages,
  malformedResponse,
  PAGE_SIZE,
  type PageHandling,
  type Paging,
  type PathSegment,
  pageReader,
  path,
  queryOf,
  readObject,
} from './call.ts'

/** A wallet, and the block after which its balance is wanted. */
export type BalanceQuery = {
  /** EVM chain id or blockchain id. */
  chainId: PathSegment
  /** Wallet address, in any letter case. */
  address: string
  /** The last included block. @default the newest block */
  blockNumber?: number | bigint | undefined
}

/** The ERC-20 balances of a wallet. */
export type Erc20BalancesQuery = BalanceQuery &
  Paging & {
    /** Token contracts. @default all tokens of the wallet */
    contractAddresses?: readonly string[] | undefined
  }

/** The ERC-1155 balances of a wallet. */
export type Erc1155BalancesQuery = BalanceQuery & Paging

/** The ERC-721 tokens that a wallet owns now. */
export type Erc721BalancesQuery = Omit<BalanceQuery, 'blockNumber'> & Paging

/** A page of ERC-20 balances. */
export type Erc20BalancesPage = Paged<{ erc20TokenBalances: Erc20Balance[] }>

/** A page of ERC-1155 balances. */
export type Erc1155BalancesPage = Paged<{ erc1155TokenBalances: Erc1155Balance[] }>

/** A page of ERC-721 tokens. */
export type Erc721BalancesPage = Paged<{ erc721TokenBalances: Erc721Balance[] }>

/** Beyond the interface: a service may respond with 404. A balance that is not decimal digits is PAGE_MALFORMED. */
export type BalanceOperations = {
  /** Gets a wallet's balance of the native coin after a block (beyond the interface). */
  getNativeBalance(query: BalanceQuery, options?: CallOptions): Promise<NativeBalance>
  /** Lists a wallet's ERC-20 balances after a block, page by page (beyond the interface). Tokens without a balance may be absent. */
  listErc20Balances(
    query: Erc20BalancesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Erc20BalancesPage, void, void>
  /** Lists a wallet's ERC-1155 balances after a block, page by page (beyond the interface). */
  listErc1155Balances(
    query: Erc1155BalancesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Erc1155BalancesPage, void, void>
  /** Lists the ERC-721 tokens that a wallet owns now, page by page (beyond the interface). */
  listErc721Balances(
    query: Erc721BalancesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Erc721BalancesPage, void, void>
}

/** Creates the operations that read balances. */
export function balanceOperations(call: Call): BalanceOperations {
  const size = createAdaptivePageSize()
  return {
    getNativeBalance: async ({ blockNumber, ...wallet }, options) =>
      call(balancesSpec('getNative', wallet, { blockNumber }), readNative, options),
    listErc20Balances: ({ contractAddresses, blockNumber, ...query }, options) => {
      const parameters = { blockNumber, contractAddresses: contractAddresses?.join(',') }
      const getPage = (paging: Paging, handling?: PageHandling) => {
        const spec = balancesSpec('listErc20', { ...query, ...paging }, parameters)
        return call({ ...spec, ...handling }, readErc20Page, options)
      }
      return followPages(getPage, query, size)
    },
    listErc1155Balances: ({ blockNumber, ...query }, options) => {
      const getPage = (paging: Paging, handling?: PageHandling) => {
        const spec = balancesSpec('listErc1155', { ...query, ...paging }, { blockNumber })
        return call({ ...spec, ...handling }, readErc1155Page, options)
      }
      return followPages(getPage, query, size)
    },
    listErc721Balances: (query, options) => {
      const getPage = (paging: Paging, handling?: PageHandling) => {
        const spec = balancesSpec('listErc721', { ...query, ...paging }, {})
        return call({ ...spec, ...handling }, readErc721Page, options)
      }
      return followPages(getPage, query, size)
    },
  }
}

type Operation = 'getNative' | 'listErc20' | 'listErc1155' | 'listErc721'

function balancesSpec(
  operation: Operation,
  { chainId, address, pageSize = PAGE_SIZE, pageToken }: Omit<BalanceQuery, 'blockNumber'> & Paging,
  parameters: Readonly<Record<string, PathSegment | undefined>>,
) {
  const paging = operation === 'getNative' ? {} : { pageSize, pageToken }
  return {
    method: 'GET' as const,
    pathAndQuery:
      path`/v1/chains/${chainId}/addresses/${address}/balances` +
      `:${operation}${queryOf({ ...parameters, ...paging })}`,
    description: `${operation} balances of wallet ${address}`,
  }
}

function readNative(body: Buffer): NativeBalance {
  const { nativeTokenBalance } = readObject<{ nativeTokenBalance?: NativeBalance | null }>(body)
  if (!isUnits(nativeTokenBalance?.balance)) throw malformedResponse('has no native balance', body)
  return nativeTokenBalance as NativeBalance
}

const readErc20Page = entriesReader<Erc20BalancesPage>('erc20TokenBalances', ['balance'])
const readErc1155Page = entriesReader<Erc1155BalancesPage>('erc1155TokenBalances', ['tokenId', 'balance'])
const readErc721Page = entriesReader<Erc721BalancesPage>('erc721TokenBalances', ['tokenId'])

/** Creates a parser for a page whose entries have an address and these whole numbers. Throws PAGE_MALFORMED. */
function entriesReader<Page extends Paged<object>>(listKey: string & keyof Page, numbers: readonly string[]) {
  const readPage = pageReader<Page>(listKey)
  return (body: Buffer): Page => {
    const page = readPage(body)
    const isComplete = (entry: Readonly<Record<string, unknown>> | null) =>
      typeof entry?.address === 'string' && numbers.every((name) => isUnits(entry[name]))
    if (!(page[listKey] as Record<string, unknown>[]).every(isComplete))
      throw malformedResponse(`has ${listKey} without address or balance`, body)
    return page
  }
}

/** Whether a value is a whole number of at most 78 digits, as text. */
function isUnits(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,78}$/.test(value)
}
