import { ExportError } from '../../../core/model/errors.ts'
import { type BlockRange, NO_END } from '../../../core/model/model.ts'
import type { RequestContext } from '../../../http/request.ts'
import type { Page, PageKey, PageLimits, RangePage } from '../../source.ts'
import { itemFromInternal } from '../parse-item-key.ts'
import { type CompleteBlocks, completeBlocks, isEmptyRange, isWithin } from './complete-blocks.ts'
import { readPage } from './page.ts'
import { fetchPage, type Paging, type RangeSpec, readRange } from './read-range.ts'
import { type Listed, readListed } from './unite-internals.ts'

/** Internal transactions of blocks, complete. */
export type InternalBlocks = Pick<CompleteBlocks, 'covered' | 'entries'>

/** The internal transactions of a wallet in a block range, read as far as they are needed. */
export type InternalCursor = {
  /**
   * Returns those of the first blocks, in the order of reading, of a range that continues the one before. At most one
   * page is requested at a time, so that not all blocks of the range may be included.
   */
  next(range: BlockRange): Promise<InternalBlocks>
  close(): Promise<void>
}

/** Opens the listing of internal transactions. Sends no request. */
export function openInternals(
  requestContext: RequestContext,
  { chain, address, range, order, cutoffMs, head, mutableBlocks }: RangeSpec,
  paging: Paging,
): InternalCursor {
  const request = { chain, address, range, order, cutoffMs, mutableBlocks, paging, ...(head && { head }) }
  const pages = readFixedOrder(requestContext, { ...request, listing: 'internal', read: createPageReader() })
  const read = (page: Pick<Page, 'body'>): Listed[] => readListed(page, chain, itemFromInternal)
  const blocks = completeBlocks(pages, read)
  let known: CompleteBlocks | undefined
  return {
    next: async (wanted) => {
      while (known === undefined || !isReached(known, wanted, order)) {
        const { value } = await blocks.next().catch(nameListing)
        if (!value) throw incompleteListingError(address)
        known = value
      }
      const covered = {
        from: Math.max(known.covered.from, wanted.from),
        to: Math.min(known.covered.to, wanted.to),
      }
      const { entries } = known
      known = { ...known, entries: entries.filter(({ block }) => block !== undefined) }
      return {
        covered,
        entries: entries.filter(({ block }) => block === undefined || isWithin(block, covered)),
      }
    },
    close: async () => {
      await blocks.return()
    },
  }
}

/**
 * Reads pages like `readRange`, but follows no page token in a range up to the head. A token may count the entries
 * before its page. New blocks would shift it, and repeated entries cannot be told from equal ones. If the first page
 * completes no block, the blocks up to its newest one are requested as a range of their own.
 */
async function* readFixedOrder(
  requestContext: RequestContext,
  spec: RangeSpec,
): AsyncGenerator<RangePage, void, void> {
  const { from, to } = spec.range
  let isOpen = spec.order === 'desc' && to === NO_END
  let newest = from - 1
  for await (const page of readRange(requestContext, spec)) {
    if (isOpen && page.isContinued === true && newest >= from) {
      yield* readFixedOrder(requestContext, { ...spec, range: { from: newest + 1, to } })
      return yield* readRange(requestContext, { ...spec, range: { from, to: newest + 1 } })
    }
    isOpen = isOpen && isEmptyRange(page.covered)
    newest = Math.max(newest, page.blocks?.max ?? newest)
    yield page
  }
}

/** Requests one entry, which shows that the service lists internal transactions for this wallet. */
export async function requireInternals(
  requestContext: RequestContext,
  spec: Pick<RangeSpec, 'chain' | 'address' | 'range'>,
): Promise<void> {
  const request = { ...spec, order: 'asc', cutoffMs: Number.POSITIVE_INFINITY, pageSize: 1 } as const
  const read = createPageReader()
  await fetchPage(requestContext, { ...request, listing: 'internal', read }, undefined).catch(nameListing)
}

/** Names the listing in the message of a refusal: a service may refuse this one only. */
function nameListing(error: unknown): never {
  if (!(error instanceof ExportError) || !REFUSED_CODES.has(error.code)) throw error
  const { code, message, status, fix } = error
  throw new ExportError(code, `${message} (listing of internal transactions)`, {
    fix: `${fix} Or set internals: listing, if the service lacks this listing.`,
    cause: error,
    ...(status === undefined ? {} : { status }),
  })
}

const REFUSED_CODES: ReadonlySet<string> = new Set(['REQUEST_REFUSED', 'KEY_REFUSED'])

const incompleteListingError = (address: string) =>
  new ExportError(
    'PAGE_MALFORMED',
    `the listing of internal transactions of wallet ${address} ends too early`,
  )

/** Whether blocks include the first one of a range, in the order of reading. */
function isReached({ covered }: CompleteBlocks, { from, to }: BlockRange, order: 'asc' | 'desc'): boolean {
  return order === 'asc' ? covered.to > from : covered.from < to
}

/**
 * Creates the reader of the pages of a listing. A transaction counts as one item, however many internal transactions it
 * has, also if they continue on the next page.
 */
function createPageReader(): (body: Buffer, limits: PageLimits) => Page {
  let last: string | undefined
  return (body, limits) => {
    const page = readPage(body, limits, 'internal')
    const previous = limits.isContinued === true ? last : undefined
    last = page.keys.at(-1)?.hash ?? previous
    const isNew = ({ hash }: PageKey, at: number) => hash !== (at === 0 ? previous : page.keys[at - 1]?.hash)
    return { ...page, keys: page.keys.filter(isNew) }
  }
}
