import { ExportError } from '../../../core/model/errors.ts'

/** Maximum number of consecutive pages with nothing new, although each has a token for a next page. */
export const MAX_IDLE_PAGES = 50

/** Maximum number of internal transactions of one transaction: a transfer takes about 7,000 gas, so no block has more. */
const MAX_INTERNALS = 50_000

/** Consecutive pages of a listing with nothing new. */
export type IdlePages = {
  count: number
  /** Internal transactions in pages that continue a transaction: they are indistinguishable from repeated ones. */
  internals: number
}

export const NO_IDLE_PAGES: IdlePages = { count: 0, internals: 0 }

/**
 * Counts one more page with nothing new.
 *
 * @param internals number of internal transactions in the page; 0 in other listings
 * @throws PAGE_MALFORMED if the listing does not end
 */
export function countIdlePage(idle: IdlePages, internals: number, listing: string): IdlePages {
  const counted = {
    count: idle.count + (internals > 0 ? 0 : 1),
    internals: idle.internals + internals,
  }
  if (counted.count === MAX_IDLE_PAGES) throw endlessListingError(listing)
  if (counted.internals > MAX_INTERNALS)
    throw endlessListingError(
      listing,
      `the pages of one transaction contained more than ${MAX_INTERNALS} entries`,
    )
  return counted
}

/** The error for a listing that does not end. */
export function endlessListingError(
  listing: string,
  problem = `the last ${MAX_IDLE_PAGES} pages contained nothing new`,
): ExportError {
  return new ExportError('PAGE_MALFORMED', `${listing}: ${problem}, and each had a nextPageToken`, {
    fix: 'Ask the operator of the service to omit nextPageToken from the last page, or try again later.',
  })
}

/**
 * Maximum number of consecutive restarts without progress. A service may refuse each of its tokens several times
 * before it accepts one, so a few restarts in a row may get no further than earlier ones.
 */
export const MAX_IDLE_RESTARTS = 8
