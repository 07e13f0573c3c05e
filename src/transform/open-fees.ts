import type { BlockRange } from '../core/model/model.ts'
import { includedItems } from './merge/page-source.ts'
import { type OpenFee, openFeesIn } from './staged/page-index.ts'
import { openIndexes } from './staged/read-staged.ts'
import type { StagedPageLocation } from './staged/staged-source.ts'

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
