import { type BlockRange, NO_END } from '../../../core/model/model.ts'
import { jsonText } from '../../../core/platform/json-text.ts'
import type { RequestContext } from '../../../http/request.ts'
import type { RangePage } from '../../source.ts'
import { type CompleteBlocks, completeBlocks, isEmptyRange, isWithin } from './complete-blocks.ts'
import { openInternals } from './internal-listing.ts'
import { type BlockFailure, trackRereadBlocks } from './outdated-blocks.ts'
import { readPage } from './page.ts'
import { isSameRange, type Paging, type RangeSpec, readRange } from './read-range.ts'
import { readListed, uniteInternals } from './unite-internals.ts'
import { type DetailedBlocks, readUnlisted } from './unlisted-transactions.ts'

type FullRangeSpec = RangeSpec & {
  /** That of the listing of internal transactions. */
  internalPaging: Paging
}

/**
 * Reads the pages of one wallet's block range like `readRange`, and unites them with the listing of its internal
 * transactions. The body of each page then contains the transactions of exactly the blocks that it covers, with all
 * internal transactions of either listing: as received if the second listing adds nothing, otherwise composed. A
 * transaction that only the second listing names is completed by its details.
 *
 * If the listings and details contradict each other, as after a reorg between two requests, the rest is requested once
 * more.
 */
export async function* readFullRange(
  requestContext: RequestContext,
  spec: FullRangeSpec,
): AsyncGenerator<RangePage, void, void> {
  const firstRereadBlock = trackRereadBlocks(spec)
  let rest = spec.range
  let repeated: BlockRange | undefined
  for (;;) {
    const isRepeated = repeated !== undefined && isSameRange(rest, repeated)
    const rereadFrom = (page: RangePage) => {
      const first = firstRereadBlock(page)
      return isRepeated ? first : NO_END
    }
    const stop = yield* readUnitedPages(requestContext, { ...spec, range: rest, rereadFrom })
    if (stop === undefined) return
    const { rest: unread, failure } = stop
    if (!failure.mayBeOutdated || (repeated !== undefined && isSameRange(unread, repeated)))
      throw failure.error
    repeated = rest = unread
  }
}

/** Why reading ended early, and the blocks that are left. */
type Stop = { rest: BlockRange; failure: BlockFailure }

type UnitedSpec = FullRangeSpec & {
  /** The first block that a later run reads again; contradictions in it are left to that run. */
  rereadFrom: (page: RangePage) => number
}

async function* readUnitedPages(
  requestContext: RequestContext,
  { internalPaging, rereadFrom, read = readPage, ...spec }: UnitedSpec,
): AsyncGenerator<RangePage, Stop | undefined, void> {
  const { chain, cutoffMs, order } = spec
  const internals = openInternals(requestContext, spec, internalPaging)
  const pages = readRange(requestContext, spec)
  try {
    for await (const listed of completeBlocks(pages, (page) => readListed(page, chain))) {
      let open = listed.covered
      while (!isEmptyRange(open)) {
        const blocks = { listed, added: await internals.next(open), chain, order }
        const added = await readUnlisted(requestContext, { ...blocks, rereadFrom: rereadFrom(listed.page) })
        const { covered, failure } = added
        open = order === 'asc' ? { from: covered.to, to: open.to } : { from: open.from, to: covered.from }
        const rest = isEmptyRange(open) ? listed.page.rest : joined(open, listed.page.rest)
        if (!isEmptyRange(covered)) {
          const page = await read(bodyOf({ listed, added, order }), {
            range: covered,
            cutoffMs,
            order,
            chain,
          })
          // The internal transactions are requested after the page: they may be newer than it.
          yield { ...page, covered, rest, indexed: listed.page.head ?? null }
        }
        if (failure !== undefined) return { rest: rest ?? open, failure }
      }
    }
    return undefined
  } finally {
    await internals.close()
  }
}

type Parts = Pick<RangeSpec, 'order'> & { listed: CompleteBlocks; added: DetailedBlocks }

/** Returns the JSON of a page with the transactions of the blocks that `added` covers. */
function bodyOf({ listed, added, order }: Parts): Buffer {
  const { covered, details } = added
  const isWhole = covered.from === listed.covered.from && covered.to === listed.covered.to
  const isFirst = order === 'asc' ? covered.from === listed.covered.from : covered.to === listed.covered.to
  const items = isWhole
    ? listed.entries
    : listed.entries.filter(({ block }) => (block === undefined ? isFirst : isWithin(block, covered)))
  const united = uniteInternals({ items, internals: added.entries, details })
  if (united === undefined && isWhole && listed.isWholePage) return listed.page.body
  const transactions = united ?? items.map(({ entry }) => entry)
  return Buffer.from(jsonText({ transactions }))
}

/** The blocks of two ranges, of which one continues the other. */
function joined(open: BlockRange, rest: BlockRange | undefined): BlockRange {
  if (rest === undefined) return open
  return { from: Math.min(open.from, rest.from), to: Math.max(open.to, rest.to) }
}
