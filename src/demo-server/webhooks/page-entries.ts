import type { ListingKey, PageTokens } from '../page-tokens.ts'
import type { BlockQuery } from '../query.ts'

type PagingOptions<Entry> = BlockQuery & {
  readonly tokens: PageTokens
  readonly listingKey: ListingKey
  /** By sequence, rising. */
  readonly entries: readonly Entry[]
}

/** Cuts one page out of entries; a token holds the sequence to go on from, so that what comes and goes does no harm. */
export function pageEntries<Entry extends { readonly sequence: number }>(paging: PagingOptions<Entry>) {
  const { tokens, listingKey, entries, pageToken, pageSize } = paging
  const from = pageToken === null ? 0 : tokens.decode(listingKey, pageToken)
  const remaining = entries.filter(({ sequence }) => sequence >= from)
  const page = remaining.slice(0, pageSize)
  const next = remaining[pageSize]
  return { page, next: next === undefined ? {} : { nextPageToken: tokens.encode(listingKey, next.sequence) } }
}
