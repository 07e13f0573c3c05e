import type { Source } from '../source.ts'
import { createMeter } from './compute-units.ts'
import { onChainFieldsOf, readView } from './flatten/view.ts'
import { PAGE_SIZE } from './operations/call.ts'
import { type AdaptivePageSize, createAdaptivePageSize } from './pages/adaptive-page-size.ts'
import { itemsIn, parsePage } from './pages/page.ts'
import { readBlock, readBlockTimes } from './pages/read-block.ts'
import { readRange } from './pages/read-range.ts'
import { fetchPage } from './pages/read-token-chain.ts'
import { splitPage } from './pages/split-page.ts'
import { keyOfItem } from './parse-item-key.ts'
import { readFee } from './read-fee.ts'

/** The HTTP interface that INTERFACE.md describes. */
export const dataApi: Source = {
  pageSize: PAGE_SIZE,
  openWallet: (wallet) => {
    const size = createAdaptivePageSize()
    return {
      readRange: (requestContext, request) => readRange(requestContext, { ...request, ...wallet, size }),
      firstKeys: async (requestContext, range) => {
        const request = { range, order: 'asc', cutoffMs: Number.POSITIVE_INFINITY, pageSize: 1 } as const
        const page = await fetchPage(requestContext, { ...request, ...wallet }, undefined)
        return page?.keys ?? []
      },
      reducedPageSize: () => reducedPageSize(size),
    }
  },
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
  splitPage,
  keyOf: keyOfItem,
  readView,
  onChainFieldsOf,
  readFee,
  openMeter: createMeter,
}

function reducedPageSize(size: AdaptivePageSize): number | undefined {
  const smallest = size.smallest()
  return smallest < PAGE_SIZE ? smallest : undefined
}
