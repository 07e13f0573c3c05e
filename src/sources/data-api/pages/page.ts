import { isUtf8 } from 'node:buffer'
import { ExportError } from '../../../core/model/errors.ts'
import { isAfterCutoff } from '../../../core/model/item-key.ts'
import { MAX_PAGE_ITEMS } from '../../../core/model/limits.ts'
import type { BlockRange } from '../../../core/model/model.ts'
import { parseBytes, toText } from '../../../core/platform/byte-text.ts'
import { checkJsonSize } from '../../../core/platform/check-json-size.ts'
import type { Page, PageKey, PageLimits, ParsedPage } from '../../source.ts'
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
  return { page: checkPage(body, parsed, limits), items: parsed.items, keys: parsed.keys }
}

/** Like `parsePage`, without the items. */
export function readPage(body: Buffer, limits: PageLimits, listing?: Listing): Page {
  return parsePage(body, limits, listing).page
}

type ParsedItems = Pick<ParsedPage, 'items' | 'keys'> & { next: string | undefined }

function checkPage(body: Buffer, parsed: ParsedItems, { range, cutoffMs, order }: PageLimits): Page {
  const { items, next } = parsed
  const keys = parsed.keys.filter((key) => typeof key !== 'string')
  for (const { block } of keys)
    if (block < range.from || block >= range.to) throw outsideRangeError(block, range)
  if (next !== undefined && isWrongOrder(keys, order)) throw unsortedError(order)
  const beforeCutoff = keys.filter((key) => !isAfterCutoff(key, cutoffMs))
  return {
    body,
    items: items.length,
    bad: items.length - keys.length,
    blocks: blockBounds(keys),
    keys,
    head: blockBounds(beforeCutoff)?.max,
    afterCutoff: keys.length - beforeCutoff.length,
    next,
  }
}

export function unsortedError(order: PageLimits['order']): ExportError {
  return new ExportError('PAGE_MALFORMED', `the page is not sorted ${order}`, { fix: UNSORTED_FIX })
}

const UNSORTED_FIX =
  'The service ignores sortOrder, without which rows could be missed. Running again does not help: report it to the operator of the service.'

/** The lowest and highest block; undefined without keys. */
function blockBounds(keys: readonly PageKey[]): Page['blocks'] {
  const bounds = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  for (const { block } of keys) {
    if (block < bounds.min) bounds.min = block
    if (block > bounds.max) bounds.max = block
  }
  return keys.length === 0 ? undefined : bounds
}

/** Whether a page runs in the opposite of the requested order. */
export function isWrongOrder(keys: readonly PageKey[], order: 'asc' | 'desc'): boolean {
  const rise = (keys.at(-1)?.second ?? 0) - (keys[0]?.second ?? 0)
  return order === 'asc' ? rise < 0 : rise > 0
}

function outsideRangeError(block: number, range: BlockRange): ExportError {
  return new ExportError(
    'PAGE_MALFORMED',
    `the page holds block ${block}, outside [${range.from}, ${range.to})`,
  )
}

/** Parses a body as JSON of any shape. Throws PAGE_MALFORMED. */
export function parseBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new ExportError('PAGE_MALFORMED', `the page is not UTF-8 (${body.length} bytes)`)
  checkJsonSize(body)
  try {
    return parseBytes(body)
  } catch (cause) {
    throw new ExportError('PAGE_MALFORMED', `the page is not JSON (${body.length} bytes)`, { cause })
  }
}

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
