import { ExportError } from '../../core/model/errors.ts'
import { type BlockRange, NO_END } from '../../core/model/model.ts'
import { type RequestContext, request } from '../../http/request.ts'
import type { AdaptivePageSize } from '../adaptive-page-size.ts'
import { outsideRangeError, unsortedError } from '../check-page.ts'
import type { RangeRequest, RecordIndex } from '../source.ts'
import { isUnprocessed } from './answer.ts'
import type { Located } from './compose-page.ts'
import type { Dialect } from './dialect.ts'
import { LISTINGS, type ListingName } from './item.ts'
import { readAnswer, releaseRecords, requireRecords } from './record-index.ts'
import { explorerRequest } from './requests.ts'
import { type BlockSpan, canShrink, isWindowTooLarge, MAX_WINDOW, shrinkWindow } from './window-size.ts'

/** A record and its block. A record that does not state its block counts to that of the record before it. */
export type Placed = Located & { block: number }

/** The records of consecutive blocks in one listing, complete and in ascending order. */
export type Window = {
  covered: BlockRange
  records: readonly Placed[]
  /** Records of a block that may be incomplete, which is read again. @default none */
  dropped?: readonly Placed[]
  /** Why the service does not list these blocks: it refuses the listing, or has not processed them. @default it does */
  missing?: ExportError
  /** A block that was indexed when the service listed them. */
  indexed?: number | undefined
}

export type WindowRequest = {
  dialect: Dialect
  chain: string
  address: string
  listing: ListingName
  /** The blocks to read, from the start that `order` names. */
  range: BlockRange
  order: 'asc' | 'desc'
  size: AdaptivePageSize
  span: BlockSpan
  readAnswer?: RangeRequest['readAnswer']
}

/** A request of the first record of a range. */
export type FirstRecordRequest = Omit<RecordsRequest, 'offset' | 'page' | 'span'>

/** One request of records. */
type RecordsRequest = Omit<WindowRequest, 'size' | 'span'> & {
  /** Absent if a failure cannot lead to a smaller request. */
  span?: BlockSpan
  /** Maximum number of records. */
  offset: number
  /** @default 1 */
  page?: number
}

/**
 * Requests the first blocks of a range in one listing: as many as the answer, whose length is limited, contains
 * completely.
 *
 * @throws REQUEST_REFUSED with status 413 if one block has more records than the service lists: this may be the only
 *   wallet for which that is so
 */
export async function readWindow(requestContext: RequestContext, spec: WindowRequest): Promise<Window> {
  for (;;) {
    const offset = spec.size.current()
    const range = spec.span.firstBlocks(spec.range, spec.order)
    try {
      const records = await requestRecords(requestContext, { ...spec, range, offset })
      const isFull = mayBeFull(records.length, offset)
      const window = completeBlocks(records, { range, order: spec.order, isFull })
      const complete =
        typeof window === 'number'
          ? await readWholeBlock(requestContext, { ...spec, range }, records)
          : window
      spec.size.recordSuccess()
      spec.span.recordSuccess()
      return complete
    } catch (thrown) {
      if (thrown instanceof LargeBlockError || isUnprocessed(thrown)) throw thrown
      await shrinkWindow(requestContext, { ...spec, range, offset, thrown })
    }
  }
}

/**
 * Requests the first record of a block range in one listing, or none. Also shows that the service responds for the
 * wallet.
 */
export async function readFirstRecord(
  requestContext: RequestContext,
  spec: FirstRecordRequest,
): Promise<Placed | undefined> {
  const [first] = await requestRecords(requestContext, { ...spec, offset: 1 })
  if (first !== undefined) releaseRecords([first.answer.id])
  return first
}

/**
 * Reads the rest of a block whose records filled an answer, by page number: in a range of one block, no new block can
 * shift the pages. If the explorer lowered the number of records per answer in the meantime, they are read again: the
 * page numbers then count from other records.
 */
async function readWholeBlock(
  requestContext: RequestContext,
  { size, ...spec }: WindowRequest,
  first: readonly Placed[],
): Promise<Window> {
  const { order } = spec
  const block = first[0]?.block ?? 0
  const pages = { ...spec, range: { from: block, to: block + 1 }, offset: first.length }
  let [records, last] = [first, first]
  for (let page = 2; last.length === first.length; page += 1) {
    if (page * first.length > MAX_WINDOW) throw new LargeBlockError(spec, block)
    const next = await requestRecords(requestContext, { ...pages, page })
    // The service ignores the page number.
    if (hasSameRecords(next, last)) throw new LargeBlockError(spec, block)
    records = [...records, ...next]
    last = next
  }
  if (isRoundLength(last.length)) {
    const again = await requestRecords(requestContext, pages)
    if (again.length < first.length) return readWholeBlock(requestContext, { ...spec, size }, again)
  }
  return {
    covered: order === 'asc' ? { from: spec.range.from, to: block + 1 } : { from: block, to: spec.range.to },
    records: order === 'asc' ? records : records.toReversed(),
  }
}

function hasSameRecords(a: readonly Placed[], b: readonly Placed[]): boolean {
  return a.length === b.length && a.every((record, at) => bytesOf(record).equals(bytesOf(b[at] ?? record)))
}

const bytesOf = ({ answer, at }: Placed) => answer.body.subarray(answer.starts[at], answer.ends[at])

async function requestRecords(
  requestContext: RequestContext,
  spec: RecordsRequest,
): Promise<readonly Placed[]> {
  const { dialect, chain, address, listing, range, order, offset, span, page = 1 } = spec
  const read = spec.readAnswer ?? readAnswer
  const parameters = {
    module: 'account',
    action: LISTINGS[listing],
    address,
    startblock: range.from,
    endblock: range.to === NO_END ? undefined : range.to - 1,
    page,
    offset,
    sort: order,
  }
  const { baseUrl } = requestContext.client
  const description = `${LISTINGS[listing]} of wallet ${address}`
  return request(
    requestContext,
    {
      ...explorerRequest({ dialect, baseUrl, chain, parameters, description }),
      isHandledByCaller: (error) =>
        (span !== undefined && isWindowTooLarge(error) && canShrink(error, { range, offset, span })) ||
        isUnprocessed(error),
    },
    async (body) => placeRecords(requireRecords(await read(body)), spec),
  ).catch((thrown: unknown) => {
    if (listing === 'erc1155' && dialect.mayListErc1155InTokentx && isUnknownAction(thrown)) return []
    throw thrown
  })
}

/** Blockscout before 9.0.0 has no listing of ERC-1155 transfers: `tokentx` contains them. */
function isUnknownAction(thrown: unknown): boolean {
  return thrown instanceof ExportError && /unknown action|invalid action name/i.test(thrown.message)
}

/**
 * Throws PAGE_MALFORMED if records are outside the range or not in order. A record that does not state its block is placed
 * in that of the one before it or, at the beginning, after it.
 */
function placeRecords(
  answer: RecordIndex,
  { range, order }: Pick<WindowRequest, 'range' | 'order'>,
): readonly Placed[] {
  const isStated = (block: number) => !Number.isNaN(block)
  let before = answer.blocks.find(isStated) ?? (order === 'asc' ? range.from : range.to - 1)
  return Array.from(answer.blocks, (stated, at) => {
    const block = isStated(stated) ? stated : before
    if (block < range.from || block >= range.to) throw outsideRangeError(block, range)
    if (order === 'asc' ? block < before : block > before) throw unsortedError(order)
    before = block
    return { block, answer, at }
  })
}

/**
 * The window ends before the last block of an answer that may be full: that block may be incomplete. Returns the number
 * of the block if there is no other. A descending list is reversed: within a transaction, too, it is assumed to be the
 * reverse of an ascending one.
 */
function completeBlocks(
  placed: readonly Placed[],
  { range, order, isFull }: Pick<RecordsRequest, 'range' | 'order'> & { isFull: boolean },
): Window | number {
  const last = placed.at(-1)?.block
  const ascending = order === 'asc' ? placed : placed.toReversed()
  if (last === undefined || !isFull) return { covered: range, records: ascending }
  if (placed.every(({ answer, at }) => Number.isNaN(answer.blocks[at])))
    throw new ExportError('PAGE_MALFORMED', 'no record of the list states its block as a number')
  const covered = order === 'asc' ? { from: range.from, to: last } : { from: last + 1, to: range.to }
  const records = ascending.filter(({ block }) => block !== last)
  const dropped = placed.slice(records.length)
  return records.length === 0 ? last : { covered, records, dropped }
}

/** Whether the service refuses a listing, and not only blocks of it. */
export const isListingRefused = (thrown: unknown): thrown is ExportError =>
  thrown instanceof ExportError && thrown.code === 'REQUEST_REFUSED' && !(thrown instanceof LargeBlockError)

/** One block has more records than the service lists. */
class LargeBlockError extends ExportError {
  constructor({ listing, address }: Pick<WindowRequest, 'listing' | 'address'>, block: number) {
    const what = `block ${block} has more records than the service lists`
    super('REQUEST_REFUSED', `${LISTINGS[listing]} of wallet ${address}: ${what}`, {
      status: 413,
      fix: LARGE_BLOCK_FIX,
    })
  }
}

const LARGE_BLOCK_FIX =
  'Explorers list at most 10,000 records of a block. Use a service with service.api: data-api for this wallet, or export the blocks before and after this one with startBlock and endBlock.'

/**
 * Whether records may be missing from an answer. Plans and instances lower the requested number without a notice, such
 * as to 1,000, and at any time. So a list of a round length may be full, whatever was answered before; one more request,
 * from its last block on, decides.
 *
 * @param offset the requested number of records
 */
const mayBeFull = (length: number, offset: number): boolean => length >= offset || isRoundLength(length)

/** Whether a limit may have this value. */
const isRoundLength = (length: number): boolean => length >= MIN_ROUND_LENGTH && length % ROUND_LENGTH === 0

const MIN_ROUND_LENGTH = 100
const ROUND_LENGTH = 50

/**
 * Windows that the readers of one wallet share: a listing with few records is complete after one request, whichever
 * part of the blocks a reader was assigned. They are dropped when no reader is left.
 */
export type SharedWindows = {
  /** Must be called when a reader begins. Returns what it must call when it ends. */
  open(): () => void
  /** Drops all windows, because they are outdated. */
  clear(): void
  add(listing: ListingName, window: Window): void
  /** The part of a window that begins where `order` begins in the range; undefined if there is none. */
  find(listing: ListingName, request: { range: BlockRange; order: 'asc' | 'desc' }): Window | undefined
}

export function createSharedWindows(): SharedWindows {
  const windows = new Map<ListingName, Window[]>()
  let readers = 0
  return {
    open: () => {
      readers += 1
      return () => {
        readers -= 1
        if (readers === 0) windows.clear()
      }
    },
    clear: () => windows.clear(),
    add: (listing, window) => {
      windows.set(listing, [...(windows.get(listing) ?? []), window])
    },
    find: (listing, { range, order }) => {
      const first = order === 'asc' ? range.from : range.to - 1
      const window = windows.get(listing)?.find(({ covered }) => first >= covered.from && first < covered.to)
      if (window === undefined) return undefined
      const covered = {
        from: Math.max(range.from, window.covered.from),
        to: Math.min(range.to, window.covered.to),
      }
      return { ...window, covered, records: window.records.filter(({ block }) => isWithin(block, covered)) }
    },
  }
}

export const isWithin = (block: number, { from, to }: BlockRange): boolean => block >= from && block < to
