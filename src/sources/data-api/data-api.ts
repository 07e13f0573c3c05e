import type { Client } from '../../http/http-client.ts'
import type { RequestContext } from '../../http/request.ts'
import {
  type AdaptivePageSize,
  createAdaptivePageSize,
  newSharedPageLimit,
  type SharedPageLimit,
} from '../adaptive-page-size.ts'
import type { Source } from '../source.ts'
import { splitPage } from '../split-list.ts'
import { readAtomic } from './atomic.ts'
import { balanceRequests } from './balance-requests.ts'
import { createMeter } from './compute-units.ts'
import { PAGE_SIZE } from './operations/call.ts'
import { requireInternals } from './pages/internal-listing.ts'
import { itemsIn, parsePage } from './pages/page.ts'
import { fetchAtomicPage, readAtomicChain } from './pages/read-atomic-chain.ts'
import { readBlock, readBlockTimes } from './pages/read-block.ts'
import { readFullRange } from './pages/read-full-range.ts'
import { fetchPage, newPaging, type Paging, readRange } from './pages/read-range.ts'
import { MAX_DETAILS } from './pages/unlisted-transactions.ts'
import { keyOfItem } from './parse-item-key.ts'
import { readFee } from './read-transaction.ts'
import { onChainFieldsOf, readView } from './view.ts'

/** The HTTP interface that INTERFACE.md describes. */
export const dataApi: Source = {
  pageSize: PAGE_SIZE,
  requestsPerPage: ({ internals }) =>
    internals === 'full' ? 2 * PAGES_TO_CONFIRM + MAX_DETAILS : PAGES_TO_CONFIRM,
  openWallet: ({ internals, ...wallet }) => {
    let paging: Paging | undefined
    let internalPaging: Paging | undefined
    return {
      readRange: (requestContext, request) => {
        paging ??= newPaging(sharedLimitOf(requestContext, sharedLimits))
        if (internals !== 'full') return readRange(requestContext, { ...request, ...wallet, paging })
        internalPaging ??= newPaging(sharedLimitOf(requestContext, sharedInternalLimits))
        return readFullRange(requestContext, { ...request, ...wallet, paging, internalPaging })
      },
      firstKeys: async (requestContext, range) => {
        const request = { range, order: 'asc', cutoffMs: Number.POSITIVE_INFINITY, pageSize: 1 } as const
        const page = await fetchPage(requestContext, { ...request, ...wallet }, undefined)
        if (internals === 'full') await requireInternals(requestContext, { ...wallet, range })
        return page?.keys ?? []
      },
      reducedPageSize: () => paging && reducedPageSize(paging.size),
    }
  },
  openAtomic: (wallet) => {
    const paging = newPaging()
    return {
      readRange: (requestContext, request) =>
        readRange(requestContext, { ...request, ...wallet, paging }, readAtomicChain),
      firstKeys: async (requestContext, range) => {
        const request = { range, order: 'asc', cutoffMs: Number.POSITIVE_INFINITY, pageSize: 1 } as const
        return (await fetchAtomicPage(requestContext, { ...request, ...wallet }, undefined))?.page.keys ?? []
      },
      reducedPageSize: () => reducedPageSize(paging.size),
    }
  },
  listsFullInternals: true,
  openBlocks: ({ chain }) => {
    const size = createAdaptivePageSize()
    return {
      readBlock: (requestContext, request) => readBlock(requestContext, { ...request, chain, size }),
      blockTimes: (requestContext, block) => readBlockTimes(requestContext, { chain, block }),
      reducedPageSize: () => reducedPageSize(size),
    }
  },
  parsePage,
  itemsIn,
  splitPage: (body) => splitPage(body),
  keyOf: keyOfItem,
  readView,
  readAtomic,
  onChainFieldsOf,
  openBalances: async (...service) => (await import('./read-balances.ts')).openBalances(...service),
  balanceRequests,
  readFee,
  openMeter: createMeter,
}

/** The next page of a listing confirms the order of a page. */
const PAGES_TO_CONFIRM = 2

type SharedLimits = WeakMap<Client, SharedPageLimit>
const sharedLimits: SharedLimits = new WeakMap()
const sharedInternalLimits: SharedLimits = new WeakMap()

/** The page limit that the wallets of a job share, so that each of them need not find it again. */
function sharedLimitOf({ client }: RequestContext, limits: SharedLimits): SharedPageLimit {
  const limit = limits.get(client) ?? newSharedPageLimit()
  limits.set(client, limit)
  return limit
}

function reducedPageSize(size: AdaptivePageSize): number | undefined {
  const smallest = size.smallest()
  return smallest < PAGE_SIZE ? smallest : undefined
}
