import { ExportError } from '../../core/errors.ts'
import type { Paged } from '../resources/pages.ts'

/**
 * Follows page tokens from `start` (undefined: the first page) to the last page, which has none. Throws
 * PAGE_MALFORMED where a token comes twice: its pages would never end.
 */
export async function* followPages<Page extends Paged<object>>(
  getPage: (pageToken: string | undefined) => Promise<Page>,
  start: string | undefined,
): AsyncGenerator<Page, void, void> {
  const asked = new Set<string | undefined>()
  let token = start
  do {
    if (asked.has(token)) throw new ExportError('PAGE_MALFORMED', 'the service repeated a page token')
    asked.add(token)
    const page = await getPage(token)
    yield page
    token = page.nextPageToken || undefined
  } while (token !== undefined)
}
