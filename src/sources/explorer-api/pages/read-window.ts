import { ExportError } from '../../../core/model/errors.ts'
import { type BlockRange, NO_END } from '../../../core/model/model.ts'
import { type RequestContext, request } from '../../../http/request.ts'
import { type AdaptivePageSize, isPageTooLarge, shrinkPages } from '../../adaptive-page-size.ts'
import { outsideRangeError, unsortedError } from '../../check-page.ts'
import type { Fields } from '../../fields.ts'
import { wholeNumber } from '../../item-time.ts'
import type { Dialect } from '../dialect.ts'
import { LISTINGS, type ListingName } from '../item.ts'
import { readRecords } from '../requests/answer.ts'
import { explorerRequest } from '../requests/explorer-request.ts'

/** A record and its block. A record that does not state its block counts to that of the record before it. */
export type Placed = { block: number; record: Fields }

/** The records of consecutive blocks in one listing, complete and in ascending order. */
export type Window = { covered: BlockRange; records: readonly Placed[] }

/** Records of one answer, largest first. Smaller ones are requested if an answer is too large for the service. */
export const WINDOW_SIZES = [10_000, 1_000, 100, 10] as const
const MAX_WINDOW = WINDOW_SIZES[0]
const MIN_WINDOW = WINDOW_SIZES[3]

/**
 * Records of one answer in plans that lower the requested number without a notice. A list of exactly this length counts
 * as full; at worst, its last block is requested again.
 */
const PLAN_LIMIT = 1_000

export type WindowRequest = {
  dialect: Dialect
  chain: string
  address: string
  listing: ListingName
  /** The blocks to read, from the start that `order` names. */
  range: BlockRange
  order: 'asc' | 'desc'
  size: AdaptivePageSize
}

/**
 * Requests the records of a block range in one listing. The answer has a maximum length, the window. If it is full, its
 * last block may be incomplete, so the window ends before it.
 *
 * @throws REQUEST_REFUSED with status 413 if the records of one block fill the window: this may be the only wallet that
 *   the service cannot list
 */
export async function readWindow(requestContext: RequestContext, spec: WindowRequest): Promise<Window> {
  for (;;) {
    const offset = spec.size.current()
    try {
      const window = await requestWindow(requestContext, spec, offset)
      spec.size.recordSuccess()
      if (typeof window !== 'number') return window
      if (offset === MAX_WINDOW) throw new LargeBlockError(spec, window)
    } catch (thrown) {
      if (thrown instanceof LargeBlockError) throw thrown
      shrinkPages(requestContext, { size: spec.size, pageSize: offset, thrown })
      continue
    }
    const largest = await requestWindow(requestContext, spec, MAX_WINDOW)
    if (typeof largest === 'number') throw new LargeBlockError(spec, largest)
    return largest
  }
}

/**
 * Requests the first record of a block range in one listing, or none. Also shows that the service responds for the
 * wallet.
 */
export async function readFirstRecord(
  requestContext: RequestContext,
  spec: Omit<WindowRequest, 'size'>,
): Promise<Placed | undefined> {
  return (await requestRecords(requestContext, spec, 1))[0]
}

/** Returns the number of a block whose records alone fill the window. */
async function requestWindow(
  requestContext: RequestContext,
  spec: Omit<WindowRequest, 'size'>,
  offset: number,
): Promise<Window | number> {
  const placed = await requestRecords(requestContext, spec, offset)
  return completeBlocks(placed, spec, placed.length >= offset || placed.length === PLAN_LIMIT)
}

async function requestRecords(
  requestContext: RequestContext,
  spec: Omit<WindowRequest, 'size'>,
  offset: number,
): Promise<readonly Placed[]> {
  const { dialect, chain, address, listing, range, order } = spec
  const parameters = {
    ...{ module: 'account', action: LISTINGS[listing], address, startblock: range.from },
    endblock: range.to === NO_END ? undefined : range.to - 1,
    ...{ page: 1, offset, sort: order },
  }
  const { baseUrl } = requestContext.client
  const description = `${LISTINGS[listing]} of wallet ${address}`
  return request(
    requestContext,
    {
      ...explorerRequest({ dialect, baseUrl, chain, parameters, description }),
      isHandledByCaller: (error) => offset > MIN_WINDOW && isPageTooLarge(error),
    },
    (body) => placeRecords(readRecords(body), spec),
  ).catch((thrown: unknown) => {
    if (listing === 'erc1155' && isUnknownAction(thrown)) return []
    throw thrown
  })
}

/** Blockscout before 9.0.0 has no listing of ERC-1155 transfers: `tokentx` contains them. */
function isUnknownAction(thrown: unknown): boolean {
  return thrown instanceof ExportError && /unknown action|invalid action name/i.test(thrown.message)
}

/** Throws PAGE_MALFORMED if records are outside the range or not in order. */
function placeRecords(
  records: readonly Fields[],
  { range, order }: Pick<WindowRequest, 'range' | 'order'>,
): readonly Placed[] {
  let before = order === 'asc' ? range.from : range.to - 1
  return records.map((record) => {
    const block = wholeNumber(record.blockNumber) ?? before
    if (block < range.from || block >= range.to) throw outsideRangeError(block, range)
    if (order === 'asc' ? block < before : block > before) throw unsortedError(order)
    before = block
    return { block, record }
  })
}

/** A descending list is reversed: within a transaction, too, it is assumed to be the reverse of an ascending one. */
function completeBlocks(
  placed: readonly Placed[],
  { range, order }: Pick<WindowRequest, 'range' | 'order'>,
  isFull: boolean,
): Window | number {
  const last = placed.at(-1)?.block
  const ascending = order === 'asc' ? placed : placed.toReversed()
  if (!isFull || last === undefined) return { covered: range, records: ascending }
  const covered = order === 'asc' ? { from: range.from, to: last } : { from: last + 1, to: range.to }
  const records = ascending.filter(({ block }) => block !== last)
  return records.length === 0 ? last : { covered, records }
}

/** The records of one block fill the window, so that others of it may be missing. */
class LargeBlockError extends ExportError {
  constructor({ listing, address }: WindowRequest, block: number) {
    const what = `the service answered with a full list for block ${block} alone, which may lack further records`
    super('REQUEST_REFUSED', `${LISTINGS[listing]} of wallet ${address}: ${what}`, {
      ...{ status: 413, fix: LARGE_BLOCK_FIX },
    })
  }
}

const LARGE_BLOCK_FIX =
  'Explorers list at most 10,000 records of a block, and 1,000 in the free plan of Etherscan. Use a service with service.api: data-api for this wallet, or export the blocks before and after this one with startBlock and endBlock.'
