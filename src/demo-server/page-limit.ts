import { HttpError } from './http-error.ts'
import type { Quirk } from './quirks.ts'

/** With the quirk `small-pages`: the largest accepted page size, and the most items of a page. */
const [MAX_PAGE_SIZE, MAX_ITEMS] = [40, 20]

type PageRequest = {
  /** The parameters of the request. Only a page size that they state is refused. */
  readonly query: URLSearchParams
  /** The page size with its default. */
  readonly pageSize: number
  readonly sortOrder?: 'asc' | 'desc'
}

/**
 * Returns the number of items of a page.
 *
 * @throws `HttpError` 413 or 504 if the quirk `small-pages` refuses the page size
 */
export function pageLimit({ query, pageSize, sortOrder }: PageRequest, quirks: ReadonlySet<Quirk>): number {
  if (!quirks.has('small-pages')) return pageSize
  if (Number(query.get('pageSize')) > MAX_PAGE_SIZE)
    throw new HttpError(
      sortOrder === 'desc' ? 504 : 413,
      `A page of ${pageSize} items is too large: at most ${MAX_PAGE_SIZE} can be requested.`,
    )
  return Math.min(pageSize, MAX_ITEMS)
}
