import { setTimeout as wait } from 'node:timers/promises'
import type { ExportError } from '../../core/model/errors.ts'
import { type Gap, gapsWithin } from '../../core/model/gaps.ts'
import { type BlockRange, NO_END } from '../../core/model/model.ts'
import { largest, smallest } from '../../core/platform/extremes.ts'
import { delayBeforeRetry, RETRY_POLICIES } from '../../core/platform/retry.ts'
import type { RequestContext } from '../../http/request.ts'
import type { AdaptivePageSize } from '../adaptive-page-size.ts'
import type { RangePage, RangeRequest } from '../source.ts'
import { isUnprocessed } from './answer.ts'
import { composeBody, findMoved, genesisCoins, nameLocated, nameRecords, readPage } from './compose-page.ts'
import type { Dialect } from './dialect.ts'
import { LISTING_NAMES, LISTINGS, type ListingName } from './item.ts'
import {
  isListingRefused,
  isWithin,
  type Placed,
  readWindow,
  type SharedWindows,
  type Window,
  type WindowRequest,
} from './read-window.ts'
import { requestHead } from './requests.ts'
import { findUnprocessed, firstPart, isKnownUnprocessed } from './unprocessed-blocks.ts'
import type { BlockSpan } from './window-size.ts'

export type ExplorerWallet = {
  dialect: Dialect
  chain: string
  address: string
  sizes: Readonly<Record<ListingName, ListingSize>>
  windows: SharedWindows
}

/** How much of a listing is requested at once. */
export type ListingSize = { size: AdaptivePageSize; span: BlockSpan }

/** How far one listing has been read. */
type Cursor = {
  listing: ListingName
  /** The blocks that have not been read. */
  unread: BlockRange
  /** Records of blocks that no page contains yet, in ascending order. */
  records: readonly Placed[]
  /** Records that no page will contain. */
  dropped: readonly Placed[]
  /** Blocks that were passed although the service does not list them. */
  gaps: readonly Gap[]
  /** Why the service refuses this listing; undefined if it does not. */
  refusal: ExportError | undefined
  /** The newest block that was indexed when the service listed the newest records; undefined if that is not known. */
  indexed: number | undefined
  isRead: boolean
}

/**
 * Reads the five listings of a wallet's block range, and yields the union by transaction of the blocks that all of them
 * have completed. Of a range up to the head, the newest blocks are left out if the explorer has not processed them yet.
 * Older ones that it has not processed, and listings that it refuses while it answers others, are gaps of the pages.
 *
 * Each listing is complete up to its newest record, or to a record that another listing has shown before it was requested.
 * If no block of the range is known to be indexed, the listings are therefore requested one after the other until one has
 * a record, and then the others at once.
 */
export async function* readRange(
  requestContext: RequestContext,
  wallet: ExplorerWallet,
  request: RangeRequest,
): AsyncGenerator<RangePage, void, void> {
  const close = wallet.windows.open()
  try {
    yield* readProcessed(requestContext, wallet, request)
  } finally {
    close()
  }
}

/** Distances below the head, in blocks, at which reading begins if the explorer has not processed the newest blocks. */
const PROCESSED_DISTANCES = [16, 128, 1_024, 8_192, 65_536] as const

/** Reads a range up to the head without its newest blocks if their first request shows that they are not processed. */
async function* readProcessed(
  requestContext: RequestContext,
  wallet: ExplorerWallet,
  request: RangeRequest,
): AsyncGenerator<RangePage, void, void> {
  const { from, to: requestedEnd } = request.range
  if (requestedEnd !== NO_END) return yield* readListings(requestContext, wallet, request)
  let ends: readonly number[] = [NO_END]
  for (let at = 0; at < ends.length; at += 1) {
    const range = { from, to: ends[at] ?? NO_END }
    try {
      return yield* readListings(requestContext, wallet, { ...request, range, mayLag: true })
    } catch (error) {
      if (!isUnprocessed(error)) throw error
      if (at === 0) ends = [NO_END, ...endsBelow(await requestHead(requestContext, wallet), from)]
    }
  }
  yield* readListings(requestContext, wallet, request)
}

const endsBelow = (head: number, from: number): number[] =>
  PROCESSED_DISTANCES.map((distance) => head + 1 - distance).filter((end) => end > from)

/** `mayLag`: unprocessed blocks in the first answer are an error, so that another end can be tried. @default false */
type ListingsRequest = RangeRequest & { mayLag?: boolean }

/** A listing is requested again only when the others have passed it, so that each is read in full windows. */
async function* readListings(
  requestContext: RequestContext,
  wallet: ExplorerWallet,
  request: ListingsRequest,
): AsyncGenerator<RangePage, void, void> {
  const {
    order,
    cutoffMs,
    indexedBeforeMs = cutoffMs,
    indexedTo = 0,
    narrowRange = (rest) => rest,
    readAnswer,
  } = request
  const shown: Shown = { block: undefined }
  let [open, moves]: [BlockRange | undefined, number] = [request.range, 0]
  let cursors = openCursors(request.range)
  while (open !== undefined) {
    const range: BlockRange = open
    const behind = cursors.filter(({ unread }) => startsEqual(unread, range, order))
    const mayLag = request.mayLag === true && range === request.range
    const read = (cursor: Cursor) =>
      advance(requestContext, wallet, { cursor, range, order, mayLag, indexedBeforeMs, shown, readAnswer })
    let at = 0
    for (const cursor of indexedTo > range.from ? [] : behind) {
      if (shown.block !== undefined) break
      await read(cursor)
      at += 1
    }
    await allSettled(behind.slice(at).map(read))
    const refusals = cursors.flatMap(({ refusal }) => refusal ?? [])
    if (refusals.length === cursors.length) throw refusals[0]
    const covered = coveredBy(cursors, range, order)
    const records = takeRecords(cursors, covered)
    const moved = findMoved(records, cutoffMs)
    if (moved !== undefined) {
      moves += 1
      if (moves > MAX_MOVES) throw moved
      await pauseAfterMove(requestContext, moved, moves)
      wallet.windows.clear()
      cursors = openCursors(range)
      continue
    }
    moves = 0
    const body = composeBody(records, covered)
    const page = await (request.read ?? readPage)(body, {
      range: covered,
      cutoffMs,
      order,
      chain: wallet.chain,
      records: nameRecords(records),
      droppedRecords: nameLocated(cursors.flatMap(({ dropped }) => dropped)),
    })
    for (const cursor of cursors) cursor.dropped = []
    const rest = restAfter(covered, range, order)
    open = rest === undefined ? undefined : narrowRange(rest, page)
    const gaps = gapsWithin(
      cursors.flatMap((cursor) => cursor.gaps),
      covered,
    )
    const opening = genesisCoins(records.normal)
    yield {
      ...page,
      covered,
      rest: open,
      indexed: indexedIn(cursors),
      ...(gaps.length > 0 && { gaps }),
      ...(opening !== undefined && { opening }),
    }
  }
}

/** How often a range is read again because a transaction moved to another block in the meantime. */
const MAX_MOVES = 3

async function pauseAfterMove(
  { onEvent, retry, signal }: RequestContext,
  { message }: ExportError,
  failures: number,
): Promise<void> {
  onEvent({ kind: 'retried', reason: message, failures })
  const policy = { ...RETRY_POLICIES.request, ...retry }
  await wait(delayBeforeRetry({ failures, retryAfterMs: undefined }, policy, Math.random), undefined, {
    signal,
  })
}

/** Waits for all promises, also if one is rejected, and then throws the first error. */
async function allSettled(promises: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

const openCursors = (range: BlockRange) =>
  LISTING_NAMES.map((listing): Cursor => {
    return {
      listing,
      unread: range,
      records: [],
      dropped: [],
      gaps: [],
      refusal: undefined,
      indexed: undefined,
      isRead: false,
    }
  })

/** The newest block, old enough to be indexed in all listings, that any answer so far has shown; updated in place. */
type Shown = { block: number | undefined }

type Step = {
  cursor: Cursor
  range: BlockRange
  order: 'asc' | 'desc'
  mayLag: boolean
  indexedBeforeMs: number
  shown: Shown
  readAnswer: RangeRequest['readAnswer']
}

/** Reads the next window of a listing, from the start of the range. */
async function advance(
  requestContext: RequestContext,
  { windows, sizes, ...wallet }: ExplorerWallet,
  { cursor, range, order, mayLag, indexedBeforeMs, shown, readAnswer }: Step,
): Promise<void> {
  const { listing } = cursor
  let window = windows.find(listing, { range, order })
  if (window === undefined) {
    const spec = { ...wallet, ...sizes[listing], listing, range, order, readAnswer }
    const before = shown.block
    window = await readListed(requestContext, spec, mayLag)
    window.indexed = newestIndexed(window.records, indexedBeforeMs, before)
    shown.block = newest([shown.block, window.indexed])
    if (restAfter(window.covered, range, order) === undefined) windows.add(listing, window)
  }
  // Newest first, later answers say nothing about the newest blocks.
  if (order === 'asc' || !cursor.isRead) cursor.indexed = newest([cursor.indexed, window.indexed])
  cursor.isRead = true
  const [first, second] = order === 'asc' ? [cursor, window] : [window, cursor]
  cursor.records = [...first.records, ...second.records]
  cursor.dropped = window.dropped ?? []
  cursor.unread = restAfter(window.covered, range, order) ?? endOf(range, order)
  if (window.missing === undefined) return
  const reason = reasonOf(window.missing)
  cursor.gaps = [...cursor.gaps, { listing: LISTINGS[listing], ...window.covered, reason }]
  if (isListingRefused(window.missing)) cursor.refusal = window.missing
}

/** Reads a window. Without records if the service does not list the blocks, which are then as few as possible. */
async function readListed(
  requestContext: RequestContext,
  spec: WindowRequest,
  mayLag: boolean,
): Promise<Window> {
  const part = firstPart(requestContext, spec)
  try {
    return await readWindow(requestContext, { ...spec, range: part })
  } catch (error) {
    if (isListingRefused(error)) return { covered: spec.range, records: [], missing: error }
    if (!isUnprocessed(error) || mayLag) throw error
    if (isKnownUnprocessed(requestContext, spec.listing, part))
      return { covered: part, records: [], missing: error }
    const { dialect, chain, address, listing } = spec
    await findUnprocessed(requestContext, { dialect, chain, address, listing }, part)
    return readListed(requestContext, spec, mayLag)
  }
}

/** The service's words, without the name of the request. */
const reasonOf = ({ message }: ExportError): string =>
  message.slice(Math.max(0, message.indexOf('the service answered')))

/** The newest block of records that are old enough to be indexed, or `other` if that is newer. */
function newestIndexed(
  records: readonly Placed[],
  indexedBeforeMs: number,
  other: number | undefined,
): number | undefined {
  let block = other
  for (const placed of records) {
    if (block !== undefined && placed.block <= block) continue
    if ((placed.answer.seconds[placed.at] ?? 0) * 1000 + 999 <= indexedBeforeMs) block = placed.block
  }
  return block
}

function newest(blocks: readonly (number | undefined)[]): number | undefined {
  const all = blocks.filter((block) => block !== undefined)
  return all.length === 0 ? undefined : largest(all)
}

/** The newest block that was indexed when each of the listings was given; null if one of them shows none. */
function indexedIn(cursors: readonly Cursor[]): number | null {
  const all = cursors.flatMap(({ indexed = [] }) => indexed)
  return all.length < cursors.length ? null : smallest(all)
}

function startsEqual(a: BlockRange, b: BlockRange, order: 'asc' | 'desc'): boolean {
  return order === 'asc' ? a.from <= b.from : a.to >= b.to
}

/** What is left of a range after its first blocks; undefined for nothing. */
function restAfter(covered: BlockRange, range: BlockRange, order: 'asc' | 'desc'): BlockRange | undefined {
  const rest = order === 'asc' ? { from: covered.to, to: range.to } : { from: range.from, to: covered.from }
  return rest.from < rest.to ? rest : undefined
}

/** The empty range after all blocks of a range. */
function endOf({ from, to }: BlockRange, order: 'asc' | 'desc'): BlockRange {
  return order === 'asc' ? { from: to, to } : { from, to: from }
}

/** The first blocks of a range that all listings have read. */
function coveredBy(cursors: readonly Cursor[], range: BlockRange, order: 'asc' | 'desc'): BlockRange {
  if (order === 'asc') {
    const firstUnread = cursors.map(({ unread }) => unread.from)
    return { from: range.from, to: smallest(firstUnread, range.to) }
  }
  const lastUnread = cursors.map(({ unread }) => unread.to)
  return { from: largest(lastUnread, range.from), to: range.to }
}

/** Removes the records of these blocks from the cursors. */
function takeRecords(
  cursors: readonly Cursor[],
  covered: BlockRange,
): Readonly<Record<ListingName, readonly Placed[]>> {
  const taken: Record<ListingName, readonly Placed[]> = {
    normal: [],
    internal: [],
    erc20: [],
    erc721: [],
    erc1155: [],
  }
  for (const cursor of cursors) {
    const [inside, outside]: [Placed[], Placed[]] = [[], []]
    for (const placed of cursor.records) (isWithin(placed.block, covered) ? inside : outside).push(placed)
    taken[cursor.listing] = inside
    cursor.records = outside
  }
  return taken
}
