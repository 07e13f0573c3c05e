import type { BlockRange } from '../../../core/model/model.ts'
import type { RangePage } from '../../source.ts'
import type { Listed } from './unite-internals.ts'

/** Blocks of a listing of which all entries are known. */
export type CompleteBlocks = {
  covered: BlockRange
  /** The page that completes them. */
  page: RangePage
  /** Their entries, in the order of the listing, and those without a valid position. */
  entries: readonly Listed[]
  /** Whether these are the entries of the page, neither more nor less. */
  isWholePage: boolean
}

/**
 * Divides the entries of pages by complete blocks: entries of a block that a page does not complete are held back until
 * a later page does. If the remaining range is requested anew, they are listed again, so they are dropped.
 */
export async function* completeBlocks(
  pages: AsyncIterable<RangePage>,
  read: (page: RangePage) => readonly Listed[],
): AsyncGenerator<CompleteBlocks, void, void> {
  let open: readonly Listed[] = []
  for await (const page of pages) {
    const { covered } = page
    const held = page.isContinued === true ? open : []
    const all = [...held, ...read(page)]
    if (isEmptyRange(covered)) {
      open = all
      continue
    }
    const entries = all.filter(({ block }) => block === undefined || isWithin(block, covered))
    open = all.filter(({ block }) => block !== undefined && !isWithin(block, covered))
    yield { covered, page, entries, isWholePage: held.length === 0 && open.length === 0 }
  }
}

export const isEmptyRange = ({ from, to }: BlockRange): boolean => from >= to

export const isWithin = (block: number, { from, to }: BlockRange): boolean => block >= from && block < to
