import { unionRanges } from '../../core/model/block-ranges.ts'
import { type BlockRange, NO_END } from '../../core/model/model.ts'
import { largest, smallest } from '../../core/platform/extremes.ts'
import type { RequestContext } from '../../http/request.ts'
import { isUnprocessed } from './answer.ts'
import type { ListingName } from './item.ts'
import { type FirstRecordRequest, readFirstRecord } from './read-window.ts'
import { requestHead } from './requests.ts'

/**
 * Blocks that each service has not processed for a listing, although the chain has gone on. A request whose range contains
 * one of them gets an incomplete list, so ranges are cut at their bounds. They depend on the service, not on the wallet.
 */
const unprocessed = new WeakMap<RequestContext['client'], Map<ListingName, readonly BlockRange[]>>()

const unprocessedIn = ({ client }: Pick<RequestContext, 'client'>, listing: ListingName) =>
  unprocessed.get(client)?.get(listing) ?? []

/** The first blocks of a range, in its order, which contain unprocessed blocks either not at all or only. */
export function firstPart(
  requestContext: Pick<RequestContext, 'client'>,
  { listing, range, order }: Pick<FirstRecordRequest, 'listing' | 'range' | 'order'>,
): BlockRange {
  const cuts = unprocessedIn(requestContext, listing).flatMap(({ from, to }) => [from, to])
  const inside = cuts.filter((block) => block > range.from && block < range.to)
  return order === 'asc'
    ? { from: range.from, to: smallest([range.to, ...inside]) }
    : { from: largest([range.from, ...inside]), to: range.to }
}

/** Whether all of these blocks are known to be unprocessed. */
export const isKnownUnprocessed = (
  requestContext: Pick<RequestContext, 'client'>,
  listing: ListingName,
  range: BlockRange,
): boolean =>
  unprocessedIn(requestContext, listing).some(({ from, to }) => from <= range.from && range.to <= to)

/** A range is divided with at most this many requests. What is not known by then counts as unprocessed. */
const MAX_REQUESTS = 100

/**
 * Finds the unprocessed blocks of a range that contains some, by bisection with requests of one record each, so that
 * `isKnownUnprocessed` knows them. Of a range without an end, the blocks above the head count as the newest one.
 */
export async function findUnprocessed(
  requestContext: RequestContext,
  spec: Omit<FirstRecordRequest, 'range' | 'order'>,
  { from: first, to }: BlockRange,
): Promise<void> {
  const end = to === NO_END ? Math.max(first, await requestHead(requestContext, spec)) + 1 : to
  let requestsLeft = MAX_REQUESTS
  const isProcessed = async (range: BlockRange) => {
    requestsLeft -= 1
    return readFirstRecord(requestContext, { ...spec, range, order: 'asc' }).then(
      () => true,
      (error: unknown) => {
        if (isUnprocessed(error)) return false
        throw error
      },
    )
  }
  const divide = async ({ from, to }: BlockRange): Promise<BlockRange[]> => {
    if (to - from <= 1 || requestsLeft <= 0) return [{ from, to }]
    const middle = from + Math.floor((to - from) / 2)
    const high = { from: middle, to }
    if (await isProcessed({ from, to: middle })) return divide(high)
    const ranges = await divide({ from, to: middle })
    return requestsLeft > 0 && (await isProcessed(high)) ? ranges : [...ranges, ...(await divide(high))]
  }
  const ranges = await divide({ from: first, to: end })
  const upToHead = ranges.map((range) => (range.to === end ? { from: range.from, to } : range))
  const known = unprocessedIn(requestContext, spec.listing)
  const listings = unprocessed.get(requestContext.client) ?? new Map<ListingName, readonly BlockRange[]>()
  unprocessed.set(requestContext.client, listings.set(spec.listing, unionRanges([...known, ...upToHead])))
}
