import { ExportError } from '../../../core/model/errors.ts'

/** Maximum number of consecutive pages with nothing new, although each has a token for a next page. */
export const MAX_IDLE_PAGES = 50

/** The error for a listing that does not end. */
export function endlessListingError(listing: string): ExportError {
  const pages = `the last ${MAX_IDLE_PAGES} pages contained nothing new, and each had a nextPageToken`
  return new ExportError('PAGE_MALFORMED', `${listing}: ${pages}`, {
    fix: 'Ask the operator of the service to omit nextPageToken from the last page, or try again later.',
  })
}

/**
 * Maximum number of consecutive restarts without progress. A service may refuse each of its tokens several times
 * before it accepts one, so a few restarts in a row may get no further than earlier ones.
 */
export const MAX_IDLE_RESTARTS = 8
