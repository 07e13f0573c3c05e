import { smallest } from '../../core/platform/extremes.ts'
import { createAdaptivePageSize, newSharedPageLimit } from '../adaptive-page-size.ts'
import type { Source, WalletAssets } from '../source.ts'
import { splitPage } from '../split-list.ts'
import { isUnprocessed } from './answer.ts'
import { composeBody, ITEMS, itemsIn, parsePage, readPage } from './compose-page.ts'
import { API_KEY_PARAMETER, BLOCKSCOUT, type Dialect, ETHERSCAN } from './dialect.ts'
import { keyOf, LISTING_NAMES, LISTINGS, onChainFieldsOf } from './item.ts'
import { type ListingSize, readRange } from './read-range.ts'
import { createSharedWindows, isListingRefused, readFirstRecord } from './read-window.ts'
import { readAnswer } from './record-index.ts'
import { requestLastBlockBefore } from './requests.ts'
import { readView } from './view.ts'
import { createBlockSpan, WINDOW_SIZES } from './window-size.ts'

/** The API of Etherscan (V2, V1 and its copies). README.md describes it. */
export const etherscan: Source = explorerSource(ETHERSCAN)

/** The API of Blockscout, which resembles that of Etherscan. */
export const blockscout: Source = explorerSource(BLOCKSCOUT)

function explorerSource(dialect: Dialect): Source {
  return {
    pageSize: WINDOW_SIZES[0],
    apiKeyParameter: API_KEY_PARAMETER,
    listingsPerWallet: LISTING_NAMES.length,
    requestsPerPage: () => LISTING_NAMES.length,
    openWallet: ({ chain, address }) => openWallet(dialect, { chain, address }),
    lastBlockBefore: (requestContext, query) => requestLastBlockBefore(requestContext, { dialect, ...query }),
    parsePage,
    readAnswer,
    itemsIn,
    splitPage: (body) => splitPage(body, ITEMS),
    keyOf: (item) => keyOf(item),
    readView: (item, context) => readView(item, context, dialect),
    onChainFieldsOf,
    mayMisstateGas: dialect.mayMisstateGas,
    balanceRequests: (wallet) => balanceRequests(dialect, wallet),
    openBalances: async (access, chain) =>
      (await import('./read-balances.ts')).openBalances(dialect, access, chain),
  }
}

function openWallet(
  dialect: Dialect,
  wallet: { chain: string; address: string },
): ReturnType<Source['openWallet']> {
  const newSize = (): ListingSize => ({
    size: createAdaptivePageSize(newSharedPageLimit(), WINDOW_SIZES),
    span: createBlockSpan(),
  })
  const sizes = {
    normal: newSize(),
    internal: newSize(),
    erc20: newSize(),
    erc721: newSize(),
    erc1155: newSize(),
  }
  const windows = createSharedWindows()
  return {
    readRange: (requestContext, request) =>
      readRange(requestContext, { dialect, ...wallet, sizes, windows }, request),
    firstKeys: async (requestContext, range) => {
      const spec = { dialect, ...wallet, listing: 'normal', range, order: 'asc' } as const
      const first = await readFirstRecord(requestContext, spec)
      const normal = first === undefined ? [] : [first]
      const body = composeBody({ normal, internal: [], erc20: [], erc721: [], erc1155: [] }, range)
      return readPage(body, { range, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' }).keys
    },
    canRead: async (requestContext, { from, to, ...gap }) => {
      const listing = LISTING_NAMES.find((name) => LISTINGS[name] === gap.listing)
      if (listing === undefined) return false
      const spec = { dialect, ...wallet, listing, range: { from, to }, order: 'asc' } as const
      return readFirstRecord(requestContext, spec).then(
        () => true,
        (error: unknown) => {
          if (isListingRefused(error) || isUnprocessed(error)) return false
          throw error
        },
      )
    },
    reducedPageSize: () => {
      const reduced = smallest(Object.values(sizes).map(({ size }) => size.smallest()))
      return reduced < WINDOW_SIZES[0] ? reduced : undefined
    },
  }
}

/**
 * The requests of a wallet's balances: one per asset and, for those of which only current ones are known, one per listing,
 * to find out whether a transaction followed.
 */
function balanceRequests(dialect: Dialect, { fromBlock, countOf }: WalletAssets): number {
  if (dialect.balanceAtBlock === undefined) return 1 + countOf('erc20') + LISTING_NAMES.length
  return (fromBlock > 0 ? 2 : 1) + (countOf('erc20') > 0 ? countOf('erc20') + LISTING_NAMES.length : 0)
}
