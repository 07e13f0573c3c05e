import { HttpError } from './http-error.ts'
import type { ListingContext, Page } from './list-wallet.ts'
import { listedNative } from './listed.ts'
import { pageLimit } from './page-limit.ts'
import type { ListingKey } from './page-tokens.ts'
import { readBlockId } from './path-parameters.ts'
import { readBlockQuery } from './query.ts'
import type { Call } from './route.ts'

/** Returns a page of the block listing (interface 4.1). A block that is unknown or after the head gets 404. */
export async function listBlock(
  { path, query }: Call,
  { chain, tokens, quirks }: Pick<ListingContext, 'chain' | 'tokens' | 'quirks'>,
): Promise<Page> {
  const id = readBlockId(path.blockId)
  const { pageToken, pageSize } = readBlockQuery(query)
  const block = await chain.block(id)
  if (!block || block.number > chain.head()) {
    throw new HttpError(404, `chain ${chain.id} has no block ${id} here.`)
  }
  const listing: ListingKey = ['block', chain.id, block.number, pageSize]
  const start = pageToken === null ? 0 : tokens.decode(listing, pageToken)
  const end = start + pageLimit({ query, pageSize }, quirks)
  const transactions = block.transactions.slice(start, end).map((native) => listedNative(native, quirks))
  return end < block.transactions.length
    ? { nextPageToken: tokens.encode(listing, end), transactions }
    : { transactions }
}
