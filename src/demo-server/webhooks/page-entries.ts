import type { PageTokens, Query } from '../page-tokens.ts'
import type { BlockQuery } from '../query.ts'

type Paging<Entry> = BlockQuery & {
  readonly tokens: PageTokens
  readonly asked: Query
  /** By sequence, rising. */
  readonly entries: readonly Entry[]
}

/** Cuts one page out of entries; a token holds the sequence to go on from, so that what comes and goes does no harm. */
export function pageEntries<Entry extends { readonly sequence: number }>(paging: Paging<Entry>) {
  const { tokens, asked, entries, pageToken, pageSize } = paging
  const from = pageToken === null ? 0 : tokens.open(asked, pageToken)
  const rest = entries.filter(({ sequence }) => sequence >= from)
  const page = rest.slice(0, pageSize)
  const next = rest[pageSize]
  return { page, next: next === undefined ? {} : { nextPageToken: tokens.seal(asked, next.sequence) } }
}
