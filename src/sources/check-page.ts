import { isUtf8 } from 'node:buffer'
import { ExportError } from '../core/model/errors.ts'
import { type ItemKey, isAfterCutoff } from '../core/model/item-key.ts'
import type { BlockRange } from '../core/model/model.ts'
import { parseBytes } from '../core/platform/byte-text.ts'
import { parseLimited } from '../core/platform/check-json-size.ts'
import type { Page, PageKey, PageLimits } from './source.ts'

type PageContent = {
  body: Buffer
  /** The key of each item, or the reason why it is invalid. */
  keys: readonly (ItemKey | string)[]
  /** The source's token of the next page. */
  next: string | undefined
}

/**
 * Describes a page.
 *
 * @throws PAGE_MALFORMED if it contains an item outside the requested range, or has a next page and is not in the
 *   requested order: its blocks would count as complete
 */
export function checkPage(content: PageContent, { range, cutoffMs, order }: PageLimits): Page {
  const { body, next } = content
  const keys: ItemKey[] = []
  let [min, max, head, afterCutoff] = [NO_BLOCK.min, NO_BLOCK.max, NO_BLOCK.max, 0]
  for (const key of content.keys) {
    if (typeof key === 'string') continue
    const { block } = key
    if (block < range.from || block >= range.to) throw outsideRangeError(block, range)
    if (block < min) min = block
    if (block > max) max = block
    if (isAfterCutoff(key, cutoffMs)) afterCutoff += 1
    else if (block > head) head = block
    keys.push(key)
  }
  if (next !== undefined && isWrongOrder(keys, order)) throw unsortedError(order)
  return {
    body,
    items: content.keys.length,
    bad: content.keys.length - keys.length,
    blocks: keys.length === 0 ? undefined : { min, max },
    keys,
    head: head === NO_BLOCK.max ? undefined : head,
    afterCutoff,
    next,
  }
}

/** Bounds of no blocks. */
const NO_BLOCK = { min: Number.POSITIVE_INFINITY, max: -1 }

export function unsortedError(order: PageLimits['order']): ExportError {
  return new ExportError('PAGE_MALFORMED', `the page is not sorted ${order}`, { fix: UNSORTED_FIX })
}

const UNSORTED_FIX =
  'The service ignores sortOrder, without which rows could be missed. Running again does not help: report it to the operator of the service.'

/** Whether a page runs in the opposite of the requested order. */
export function isWrongOrder(keys: readonly PageKey[], order: 'asc' | 'desc'): boolean {
  const rise = (keys.at(-1)?.second ?? 0) - (keys[0]?.second ?? 0)
  return order === 'asc' ? rise < 0 : rise > 0
}

/** The highest block of the items that are certainly not newer than `indexedBeforeMs`; undefined if there are none. */
export function newestIndexed(keys: readonly PageKey[], indexedBeforeMs: number): number | undefined {
  let newest = NO_BLOCK.max
  for (const key of keys) if (key.block > newest && !isAfterCutoff(key, indexedBeforeMs)) newest = key.block
  return newest === NO_BLOCK.max ? undefined : newest
}

export function outsideRangeError(block: number, range: BlockRange): ExportError {
  return new ExportError(
    'PAGE_MALFORMED',
    `the page holds block ${block}, outside [${range.from}, ${range.to})`,
  )
}

/** Parses a body as JSON of any shape. Throws PAGE_MALFORMED. */
export function parseBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new ExportError('PAGE_MALFORMED', `the page is not UTF-8 (${body.length} bytes)`)
  try {
    return parseLimited(body, parseBytes)
  } catch (cause) {
    if (cause instanceof ExportError) throw cause
    throw new ExportError('PAGE_MALFORMED', `the page is not JSON (${body.length} bytes)`, { cause })
  }
}
