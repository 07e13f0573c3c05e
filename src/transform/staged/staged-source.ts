import type { BlockRange } from '../../core/model/model.ts'
import { includedItems, type PageLocation, type ReorgedTransaction } from '../merge/page-source.ts'
import type { ItemSource, PositionedItem } from '../merge/record-items.ts'
import type { IndexLocation, PageIndex } from './page-index.ts'

/** A staged page: the location of its body in the checkpoint and of its index in the staging files. */
export type StagedPageLocation = PageLocation & { index: IndexLocation }

/** A transaction of a staged page. */
export type StagedItem = PositionedItem & {
  page: OpenPage
  /** Index of the transaction in the page index. */
  at: number
}

export type OpenPage = { location: StagedPageLocation; index: PageIndex }

export type StagedContext = {
  readIndex: (location: IndexLocation) => PageIndex
  /** Half-open. Items outside are ignored. */
  range: BlockRange
  /** By hash, transactions that have several chain positions. @default none */
  reorged?: ReadonlyMap<string, ReorgedTransaction> | undefined
}

/** Opens a staged page as a merge source. Its index is read when the merge loads it. */
export function openStagedSource(
  location: StagedPageLocation,
  { readIndex, ...filter }: StagedContext,
): ItemSource<StagedItem> {
  const { wallet, keyRange, validBefore, rereadRanges } = location
  return {
    keyRange,
    load: () => {
      const index = readIndex(location.index)
      const page = { location, index }
      const items = index.block.map((block, at): StagedItem => {
        const key = { block, index: index.index[at] ?? 0, hash: index.hash[at] ?? '' }
        return { key, wallet, page, at }
      })
      return includedItems(items, { ...filter, validBefore, rereadRanges })
    },
  }
}
