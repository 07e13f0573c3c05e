import type { BlockRange } from '../../core/model/model.ts'
import { countedItems, type MovedTransaction, type PagePlace } from '../merge/page-source.ts'
import type { ItemSource, Viewed } from '../merge/record-items.ts'
import type { IndexPlace, PageIndex } from './page-index.ts'

/** A page whose rows are made: where its body lies in the checkpoint, and where its index. */
export type StagedPlace = PagePlace & { index: IndexPlace }

/** A transaction of a page whose rows are made. */
export type StagedItem = Viewed & {
  page: OpenedPage
  /** Its number in the page's index. */
  at: number
}

export type OpenedPage = { place: StagedPlace; index: PageIndex }

export type StagedContext = {
  readIndex: (place: IndexPlace) => PageIndex
  /** Half-open; items outside are left out. */
  range: BlockRange
  /** By hash, transactions that stand in several places. @default none does */
  moved?: ReadonlyMap<string, MovedTransaction> | undefined
}

/** Makes a staged page a source: its index is read when the merge asks for it. */
export function openStaged(
  place: StagedPlace,
  { readIndex, ...counting }: StagedContext,
): ItemSource<StagedItem> {
  const { wallet, span, until, replaced } = place
  return {
    span,
    load: () => {
      const index = readIndex(place.index)
      const page = { place, index }
      const items = index.block.map((block, at): StagedItem => {
        const key = { block, index: index.index[at] ?? 0, hash: index.hash[at] ?? '' }
        return { key, wallet, page, at }
      })
      return countedItems(items, { ...counting, until, replaced })
    },
  }
}
