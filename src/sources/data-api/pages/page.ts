import { isUtf8 } from 'node:buffer'
import { ExportError } from '../../../core/model/errors.ts'
import { type ItemKey, isYounger } from '../../../core/model/item-key.ts'
import { MAX_PAGE_ITEMS } from '../../../core/model/limits.ts'
import type { BlockRange } from '../../../core/model/model.ts'
import { parseBytes, toText } from '../../../core/platform/byte-text.ts'
import { checkJsonSize } from '../../../core/platform/check-json-size.ts'
import { keyOfItem } from '../parse-item-key.ts'

export type Page = {
  /** The body as received (JSON). */
  body: Buffer
  /** Items in the page, invalid ones included. */
  items: number
  /** Items without a valid position in the chain. */
  bad: number
  /** Lowest and highest block in the page; undefined if no item has a block. */
  blocks: BlockBounds | undefined
  /** Keys of the valid items, in page order. */
  keys: readonly PageKey[]
  /**
   * Highest block among items that are certainly not younger than `cutMs`. It pins the end of a run without
   * endBlock.
   */
  head: number | undefined
  /** Items that may be younger than `cutMs`. */
  young: number
  next: string | undefined
}

export type PageLimits = {
  range: BlockRange
  cutMs: number
  order: 'asc' | 'desc'
  /** The requested chain; items of others are invalid. @default any */
  chain?: string
  /** Converts an entry of the page to an item of the wallet listing. @default no conversion */
  toItem?: (entry: unknown) => unknown
}

/**
 * Validates a body and reads what paging needs. Single invalid items are accepted.
 *
 * @throws PAGE_MALFORMED if the body is not the JSON that the interface defines (section 4.3), contains an
 *   item outside the requested range, or has a next page and is not in the requested order: its blocks would
 *   count as complete
 */
export function readPage(body: Buffer, limits: PageLimits): Page {
  return checkPage(parsePage(body, limits), limits)
}

/** A parsed page, so that its items need not be parsed again. */
export type ParsedPage = {
  body: Buffer
  /** Its items. Their strings are byte strings. */
  entries: readonly unknown[]
  /** The key of each item, or the reason why it is invalid. */
  keys: readonly (ItemKey | string)[]
  next: string | undefined
}

/** Checks a page against the request. Throws like `readPage`. */
export function checkPage(page: ParsedPage, { range, cutMs, order }: PageLimits): Page {
  const { body, entries, next } = page
  const keys = page.keys.filter((key) => typeof key !== 'string')
  for (const { block } of keys)
    if (block < range.from || block >= range.to) throw outsideRangeError(block, range)
  if (next !== undefined && isWrongOrder(keys, order))
    throw new ExportError('PAGE_MALFORMED', `the page is not sorted ${order}`)
  const beforeCutoff = keys.filter((key) => !isYounger(key, cutMs))
  return {
    body,
    items: entries.length,
    bad: entries.length - keys.length,
    blocks: blockBounds(keys),
    keys,
    head: blockBounds(beforeCutoff)?.max,
    young: keys.length - beforeCutoff.length,
    next,
  }
}

type PageKey = Pick<ItemKey, 'block' | 'hash' | 'timeMs' | 'lastMs' | 'second'>
type BlockBounds = { min: number; max: number }

/** The lowest and highest block; undefined without keys. */
function blockBounds(keys: readonly PageKey[]): BlockBounds | undefined {
  const bounds = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  for (const { block } of keys) {
    if (block < bounds.min) bounds.min = block
    if (block > bounds.max) bounds.max = block
  }
  return keys.length === 0 ? undefined : bounds
}

function isWrongOrder(keys: readonly PageKey[], order: 'asc' | 'desc'): boolean {
  const rise = (keys.at(-1)?.second ?? 0) - (keys[0]?.second ?? 0)
  return order === 'asc' ? rise < 0 : rise > 0
}

function outsideRangeError(block: number, range: BlockRange): ExportError {
  return new ExportError(
    'PAGE_MALFORMED',
    `the page holds block ${block}, outside [${range.from}, ${range.to})`,
  )
}

/** Parses a body and reads the keys of its items. Throws PAGE_MALFORMED if it does not have the shape of a page. */
export function parsePage(body: Buffer, { chain, toItem }: Pick<PageLimits, 'chain' | 'toItem'>): ParsedPage {
  if (!isUtf8(body)) throw new ExportError('PAGE_MALFORMED', `the page is not UTF-8 (${body.length} bytes)`)
  checkJsonSize(body)
  let parsed: unknown
  try {
    parsed = parseBytes(body)
  } catch (cause) {
    throw new ExportError('PAGE_MALFORMED', `the page is not JSON (${body.length} bytes)`, { cause })
  }
  const { transactions, nextPageToken: next = null } = (parsed ?? {}) as Record<string, unknown>
  if (!Array.isArray(transactions))
    throw new ExportError('PAGE_MALFORMED', 'the page has no list of transactions')
  if (transactions.length > MAX_PAGE_ITEMS) throw tooManyItemsError(transactions.length)
  if (next !== null && typeof next !== 'string') {
    throw new ExportError('PAGE_MALFORMED', `the page's nextPageToken is of type ${typeof next}`)
  }
  const keys = transactions.map((entry) => keyOfItem(toItem === undefined ? entry : toItem(entry), chain))
  return { body, entries: transactions, keys, next: next ? toText(next) : undefined }
}

function tooManyItemsError(items: number): ExportError {
  const what = `the page has ${items} items, more than the limit of ${MAX_PAGE_ITEMS}`
  return new ExportError('PAGE_MALFORMED', what, { isPermanent: true })
}
