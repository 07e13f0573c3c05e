import type { BlockRange } from '../core/model/model.ts'
import { withPaidPrice } from './fees.ts'
import { includedItems, itemsOfPage, type StoredPage } from './merge/page-items.ts'
import { type OpenFee, openFeesIn } from './staged/page-index.ts'
import { openIndexes, type StagedPageLocation } from './staged/read-staged.ts'

/**
 * Yields the transactions in a range whose rows depend on prices that were not known when their pages were
 * staged. One may occur in the pages of several wallets.
 *
 * @param folder folder of the staging files
 */
export function* iterateOpenFees(
  pages: readonly StagedPageLocation[],
  { folder, range }: { folder: string; range: BlockRange },
): Generator<OpenFee, void, void> {
  const reader = openIndexes(folder)
  try {
    for (const { index, wallet, validBefore, rereadRanges } of pages) {
      const items = openFeesIn(reader.readIndex(index)).map((fee) => ({ key: fee, wallet }))
      for (const { key } of includedItems(items, { range, validBefore, rereadRanges })) yield key
    }
  } finally {
    reader.close()
  }
}

/**
 * Returns the transactions of a page whose fees depend on prices that the listing may not state.
 *
 * @param isOwn whether an address is a wallet of the job at a block
 */
export function openFeesOfPage(
  page: StoredPage & { chain: string },
  isOwn: (address: string, block: number) => boolean,
): OpenFee[] {
  return itemsOfPage(page).items.flatMap(({ key, item }) => {
    const view = page.source.readView(item, { chain: page.chain, onBadEntry: () => undefined })
    if (typeof view === 'string') return []
    const { prefix, row } = view.native
    if (row.from_address === null || !isOwn(row.from_address, key.block)) return []
    const { openPrice: price } = withPaidPrice(view.native, { from: 'undecided' })
    const { hash, block, index } = key
    const { block_hash: blockHash } = prefix
    return price === undefined || blockHash === null ? [] : [{ hash, blockHash, block, index, price }]
  })
}
