import { withPaidPrice } from './fees.ts'
import { itemsOfPage, type StoredPage } from './merge/record-items.ts'
import type { OpenFee } from './staged/page-index.ts'

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
