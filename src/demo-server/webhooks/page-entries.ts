import type { ListingKey, PageTokens } from '../page-tokens.ts'
import type { BlockQuery } from '../query.ts'

type PagingOptions<Entry> = BlockQuery & {
  readonly tokens: PageTokens
  readonly listingKey: ListingKey
  /** In ascending order of `sequence`. */
  readonly entries: readonly Entry[]
}

/**
 * Returns one page of entries. The page token holds the sequence number of the next entry, so entries may be added and
 * removed between pages.
 */
export function pageEntries<Entry extends { readonly sequence: number }>(paging: PagingOptions<Entry>) {
  const { tokens, listingKey, entries, pageToken, pageSize } = paging
  const from = pageToken === null ? 0 : tokens.decode(listingKey, pageToken)
  const remaining = entries.filter(({ sequence }) => sequence >= from)
  const page = remaining.slice(0, pageSize)
  const next = remaining[pageSize]
  return { page, next: next === undefined ? {} : { nextPageToken: tokens.encode(listingKey, next.sequence) } }
}
