import { ExportError } from '../../../core/model/errors.ts'

/** Pages in a row that may show nothing new although each names a next page. */
export const MAX_IDLE_PAGES = 50

/** The failure of a listing whose pages do not end; `what` names it. */
export function endlessListingError(listing: string): ExportError {
  const pages = `the last ${MAX_IDLE_PAGES} pages show nothing new, and each has a token of a next page`
  return new ExportError('PAGE_MALFORMED', `${listing}: ${pages}`, {
    fix: 'Ask the operator of the service to omit nextPageToken from the last page, or try again later.',
  })
}
