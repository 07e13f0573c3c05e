import { isUtf8 } from 'node:buffer'
import { ExportError } from '../../../core/model/errors.ts'
import { type ItemKey, isYounger } from '../../../core/model/item-key.ts'
import { MAX_PAGE_ITEMS } from '../../../core/model/limits.ts'
import type { BlockRange } from '../../../core/model/model.ts'
import { parseBytes, toText } from '../../../core/platform/byte-text.ts'
import { checkJsonSize } from '../../../core/platform/check-json-size.ts'
import { keyOfItem } from '../parse-item-key.ts'

export type Page = {
  /** The body as it was received, JSON. */
  body: Buffer
  /** Items in the page, good and bad. */
  items: number
  /** Items that have no place in the chain. */
  bad: number
  /** Lowest and highest block in the page; undefined where no item has a block. */
  blocks: BlockBounds | undefined
  /** The places of the items that have one, in the order of the page. */
  keys: readonly PageKey[]
  /** Highest block among items that are surely not younger than `cutMs`, for the pin of a run without endBlock. */
  head: number | undefined
  /** Items that may be younger than `cutMs`. */
  young: number
  next: string | undefined
}

export type PageLimits = {
  range: BlockRange
  cutMs: number
  order: 'asc' | 'desc'
  /** The chain that was asked for: items of others have no place. @default any */
  chain?: string
  /** Makes an entry of the page an item of the wallet listing. @default it is one */
  toItem?: (entry: unknown) => unknown
}

/**
 * Checks a body's shape and reads from it what paging needs. Throws PAGE_MALFORMED where the body is not the JSON
 * that the interface promises (section 4.3), holds an item outside the asked range, or has more pages after it and runs
 * against the asked order: its blocks would count as settled. A single bad item is no reason.
 */
export function readPage(body: Buffer, limits: PageLimits): Page {
  return checkPage(parsePage(body, limits), limits)
}

/** A page as it was parsed: what is made of its items needs no second parsing. */
export type ParsedPage = {
  body: Buffer
  /** Its items; strings are bytes. */
  entries: readonly unknown[]
  /** The place of each, or the reason why it has none. */
  keys: readonly (ItemKey | string)[]
  next: string | undefined
}

/** Checks what a page holds against what was asked; throws as `readPage` does. */
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

/** The lowest and the highest block; undefined where there is no key. */
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

/** Parses a body and finds the places of its items; throws PAGE_MALFORMED where it has not the shape of a page. */
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
