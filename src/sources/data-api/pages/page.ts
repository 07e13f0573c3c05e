import { ExportError } from '../../../core/model/errors.ts'
import { MAX_PAGE_ITEMS } from '../../../core/model/limits.ts'
import { toText } from '../../../core/platform/byte-text.ts'
import { checkPage, parseBody } from '../../check-page.ts'
import type { Page, PageLimits, ParsedPage } from '../../source.ts'
import { itemFromInternal, itemFromNative, keyOfItem } from '../parse-item-key.ts'

/** The endpoint of a page. Entries of the other listings are converted to items of the wallet listing. */
type Listing = 'wallet' | 'block' | 'internal'

/**
 * Parses and validates a body. Single invalid items are accepted.
 *
 * @throws PAGE_MALFORMED if the body is not the JSON that the interface defines (sections 4.1 and 4.3),
 *   contains an item outside the requested range, or has a next page and is not in the requested order: its
 *   blocks would count as complete
 */
export function parsePage(body: Buffer, limits: PageLimits, listing: Listing = 'wallet'): ParsedPage {
  const parsed = itemsOf(parseBody(body), { chain: limits.chain, listing })
  return {
    page: checkPage({ body, keys: parsed.keys, next: parsed.next }, limits),
    items: parsed.items,
    keys: parsed.keys,
  }
}

/** Like `parsePage`, without the items. */
export function readPage(body: Buffer, limits: PageLimits, listing?: Listing): Page {
  return parsePage(body, limits, listing).page
}

type ParsedItems = Pick<ParsedPage, 'items' | 'keys'> & { next: string | undefined }

/** Returns the items of a parsed page, with their keys. Throws PAGE_MALFORMED if it does not have the shape of a page. */
export function itemsOf(
  parsed: unknown,
  { chain, listing }: { chain?: string | undefined; listing: Listing },
): ParsedItems {
  const { transactions, nextPageToken: next = null } = (parsed ?? {}) as Record<string, unknown>
  if (!Array.isArray(transactions))
    throw new ExportError('PAGE_MALFORMED', 'the page has no list of transactions')
  if (transactions.length > MAX_PAGE_ITEMS) throw tooManyItemsError(transactions.length)
  if (next !== null && typeof next !== 'string') {
    throw new ExportError('PAGE_MALFORMED', `the page's nextPageToken is of type ${typeof next}`)
  }
  const items: unknown[] = listing === 'wallet' ? transactions : transactions.map(CONVERSIONS[listing])
  const keys = items.map((item) => keyOfItem(item, chain))
  return { items, keys, next: next ? toText(next) : undefined }
}

const CONVERSIONS = { block: itemFromNative, internal: itemFromInternal }

function tooManyItemsError(items: number): ExportError {
  const what = `the page has ${items} items, more than the limit of ${MAX_PAGE_ITEMS}`
  return new ExportError('PAGE_MALFORMED', what, { isPermanent: true })
}

type Body = { transactions: unknown[] }

/** Returns the items of a parsed body: a wallet's page, or a list of block pages. */
export function itemsIn(parsed: unknown): unknown {
  if (!Array.isArray(parsed)) return (parsed as Body).transactions
  return (parsed as Body[]).flatMap(({ transactions }) => transactions.map(itemFromNative))
}
