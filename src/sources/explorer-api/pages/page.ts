import { ExportError } from '../../../core/model/errors.ts'
import { checkPage } from '../../check-page.ts'
import { parseBody } from '../../parse-body.ts'
import type { Page, PageLimits, ParsedPage } from '../../source.ts'
import { keyOf, LISTING_NAMES } from '../item.ts'
import { composedItems } from './compose-body.ts'
import { WINDOW_SIZES } from './window-size.ts'

/** Every record of a full window in every listing may belong to another transaction. */
const MAX_ITEMS = LISTING_NAMES.length * WINDOW_SIZES[0]

/** The list of items in a body. */
export const ITEMS = 'items'

/**
 * Validates a composed body, and parses it unless this thread has parsed its answers. Single invalid items are accepted.
 * Throws PAGE_MALFORMED.
 */
export function parsePage(body: Buffer, limits: PageLimits): ParsedPage {
  const items = (limits.records && composedItems(limits.records)) ?? itemsIn(parseBody(body))
  if (!Array.isArray(items)) throw new ExportError('PAGE_MALFORMED', 'the page has no list of items')
  if (items.length > MAX_ITEMS)
    throw new ExportError(
      'PAGE_MALFORMED',
      `the page has ${items.length} items, more than the limit of ${MAX_ITEMS}`,
    )
  const keys = items.map((item) => keyOf(item))
  return { page: checkPage({ body, keys, next: undefined }, limits), items, keys }
}

/** Like `parsePage`, without the items. */
export function readPage(body: Buffer, limits: PageLimits): Page {
  return parsePage(body, limits).page
}

/** Returns the items of a parsed body. */
export function itemsIn(parsed: unknown): unknown {
  return ((parsed ?? {}) as { [ITEMS]?: unknown })[ITEMS]
}
