import type { BlockRange } from '../../core/model/model.ts'
import { includedItems, type PageLocation, type ReorgedTransaction } from '../merge/page-source.ts'
import type { ItemSource, PositionedItem } from '../merge/record-items.ts'
import type { IndexLocation, PageIndex } from './page-index.ts'

/** A page whose rows are made: where its body lies in the checkpoint, and where its index. */
export type StagedPageLocation = PageLocation & { index: IndexLocation }

/** A transaction of a page whose rows are made. */
export type StagedItem = PositionedItem & {
  page: OpenPage
  /** Its number in the page's index. */
  at: number
}

export type OpenPage = { location: StagedPageLocation; index: PageIndex }

export type StagedContext = {
  readIndex: (location: IndexLocation) => PageIndex
  /** Half-open; items outside are left out. */
  range: BlockRange
  /** By hash, transactions that stand in several places. @default none does */
  reorged?: ReadonlyMap<string, ReorgedTransaction> | undefined
}

/** Makes a staged page a source: its index is read when the merge asks for it. */
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
