import { ExportError } from '../../../core/model/errors.ts'
import { endlessListingError, MAX_IDLE_PAGES } from '../pages/endless-listing.ts'
import type { Paged } from '../resources/pages.ts'

/**
 * Follows page tokens from `start` (undefined: the first page) to the last page, which has none.
 *
 * @throws PAGE_MALFORMED if a token is repeated, or if the same page is returned again and again with new
 *   tokens: the listing would never end
 */
export async function* followPages<Page extends Paged<object>>(
  getPage: (pageToken: string | undefined) => Promise<Page>,
  start: string | undefined,
): AsyncGenerator<Page, void, void> {
  const seenTokens = new Set<string | undefined>()
  let token = start
  let [last, idle] = ['', 0]
  do {
    if (seenTokens.has(token)) throw new ExportError('PAGE_MALFORMED', 'the service repeated a page token')
    seenTokens.add(token)
    const page = await getPage(token)
    yield page
    const content = JSON.stringify({ ...page, nextPageToken: undefined })
    idle = content === last ? idle + 1 : 0
    last = content
    if (idle === MAX_IDLE_PAGES) throw endlessListingError('a listing of the service')
    token = page.nextPageToken || undefined
  } while (token !== undefined)
}
