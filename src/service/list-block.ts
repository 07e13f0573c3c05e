import type { Chain } from './chain.ts'
import type { Page } from './list-wallet.ts'
import type { PageTokens, Query } from './page-tokens.ts'
import { Refusal } from './refusal.ts'
import type { BlockListing } from './route.ts'

/** Answers the block listing (interface 4.1); a block that is unknown or past the head is refused with 404. */
export async function listBlock(
  listing: BlockListing,
  { chain, tokens }: { chain: Chain; tokens: PageTokens },
): Promise<Page> {
  const block = await chain.block(listing.block)
  if (!block || block.number > chain.head()) {
    throw new Refusal(404, `chain ${chain.id} has no block ${listing.block} here.`)
  }
  const query: Query = ['block', chain.id, block.number, listing.pageSize]
  const start = listing.pageToken === null ? 0 : tokens.open(query, listing.pageToken)
  const end = start + listing.pageSize
  const transactions = block.transactions.slice(start, end)
  return end < block.transactions.length
    ? { nextPageToken: tokens.seal(query, end), transactions }
    : { transactions }
}
