import type { BlockRange } from '../../../core/model/model.ts'
import type { RangePage } from '../../source.ts'
import { keyOfItem } from '../parse-item-key.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** An entry of a listing, with its block and transaction; both are undefined for an entry without a valid position. */
export type Listed = { block: number | undefined; hash: string | undefined; entry: JsonObject }

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

/**
 * Reads the entries of a page's body, which is valid.
 *
 * @param toItem converts an entry to an item of the wallet listing
 */
export function readListed(
  { body }: Pick<RangePage, 'body'>,
  chain: string,
  toItem: (entry: unknown) => unknown = (entry) => entry,
): Listed[] {
  const { transactions } = JSON.parse(body.toString('utf8')) as { transactions: JsonObject[] }
  return transactions.map((entry) => {
    const key = keyOfItem(toItem(entry), chain)
    return typeof key === 'string'
      ? { block: undefined, hash: undefined, entry }
      : { block: key.block, hash: key.hash, entry }
  })
}
