import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import { MAX_INDEX_LAG_MS } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'
import { isAfterCutoff } from '../../core/model/item-key.ts'
import { type Listings, walletOf } from '../../core/model/listings.ts'
import { type Job, NO_END } from '../../core/model/model.ts'
import { CLOCK_TOLERANCE_MS, type RunStats } from '../../core/model/run-stats.ts'
import { largest } from '../../core/platform/extremes.ts'
import type { RequestContext } from '../../http/request.ts'
import type { BlockTime } from '../../sources/block-listing.ts'
import { sourceOf } from '../../sources/index.ts'
import type { PageKey } from '../../sources/source.ts'
import type { FetchContext } from './fetch-context.ts'

/**
 * Returns the exclusive end of a run after the pages of all wallets have arrived. Without endBlock, pins it
 * to the head seen in these pages; with endBlock, see `findFixedEnd`. The end of a run is determined only
 * once.
 */
export async function findEnd(context: FetchContext): Promise<number> {
  const { job, checkpoint, stats, listings, requestContext, minEnd } = context
  const { endBlock } = job
  if (endBlock === undefined) return checkpoint.pinEndBlock(minEnd)
  if (stats.endBlock !== undefined) return stats.endBlock
  return findFixedEnd({
    ...{ job, endBlock, requestContext, minEnd },
    head: checkpoint.head(),
    indexedBeforeMs: indexedBeforeMs(checkpoint, stats),
    appearedSince: (key) => appearedSince(key, checkpoint, stats),
    newestWallet: newestWalletIn(checkpoint, listings),
  })
}

/**
 * Whether a transaction's block may have been indexed after the run began. Wallets are read at different times, so
 * only blocks that were indexed before can count for all of them. If the local clock is behind that of the service,
 * the service's clock is used. A block whose time is ahead of the clock by more than the tolerance between block
 * producers means that the clock is wrong; the result is then false.
 */
export function appearedSince(
  time: BlockTime,
  run: { begunMs: number },
  stats: Pick<RunStats, 'service'>,
): boolean {
  return (
    isAfterCutoff(time, indexedBeforeMs(run, stats)) &&
    time.timeMs <= Date.now() + skewMsOf(stats) + CLOCK_TOLERANCE_MS
  )
}

/** The time up to which blocks count as indexed when the run began. */
export const indexedBeforeMs = ({ begunMs }: { begunMs: number }, stats: Pick<RunStats, 'service'>): number =>
  begunMs + skewMsOf(stats) - MAX_INDEX_LAG_MS

const skewMsOf = ({ service: { aheadMs = 0 } }: Pick<RunStats, 'service'>) => Math.max(0, aheadMs)

/** Returns the highest block of a page that existed before the run began; undefined if there is none. */
export function headBefore(
  keys: readonly PageKey[],
  run: { begunMs: number },
  stats: Pick<RunStats, 'service'>,
): number | undefined {
  const blocks = keys.filter((key) => !appearedSince(key, run, stats)).map(({ block }) => block)
  return blocks.length === 0 ? undefined : largest(blocks)
}

export type FixedEndContext = {
  job: Pick<Job, 'chain' | 'startBlock' | 'service'>
  endBlock: number
  requestContext: RequestContext
  /** The highest block in the pages that existed before the run began; undefined if there is none. */
  head: number | undefined
  /** Blocks up to this time count as indexed when the run began. */
  indexedBeforeMs: number
  /** Whether a transaction's block was produced after the run began. */
  appearedSince: (time: BlockTime) => boolean
  /** The wallet with the newest transaction; undefined if no wallet has one. */
  newestWallet: string | undefined
  /** Minimum end of the run: the end of the existing export. @default 0 */
  minEnd?: number | undefined
}

/**
 * Returns the exclusive end of a run with an endBlock. The chain has reached endBlock if block `endBlock - 1`
 * or a higher one existed before the run began. This is looked up in the pages, then with a request for
 * the last block at that time or, if the service has none, for that block, then with a request for transactions of a wallet from that block on. If none of them has such a
 * block, the end is one past the highest known block.
 */
export async function findFixedEnd(context: FixedEndContext): Promise<number> {
  const { job, endBlock, head = -1, minEnd = 0 } = context
  if (head >= endBlock - 1 || job.startBlock >= endBlock || (await isReached(context, endBlock - 1)))
    return endBlock
  return Math.max(minEnd, job.startBlock, head + 1)
}

async function isReached(context: FixedEndContext, block: number): Promise<boolean> {
  const last = await undefinedIfRefused(lastIndexedBlock(context))
  if (last !== undefined) return last >= block
  if (await undefinedIfRefused(hasBlock(context, block))) return true
  return (await undefinedIfRefused(hasItemFrom(context, block))) === true
}

async function lastIndexedBlock({
  job: { chain, service },
  requestContext,
  indexedBeforeMs: timeMs,
}: FixedEndContext): Promise<number | undefined> {
  return sourceOf(service.api).lastBlockBefore?.(requestContext, { chain, timeMs })
}

async function hasBlock(
  { job, requestContext, appearedSince }: FixedEndContext,
  block: number,
): Promise<boolean> {
  const { openBlocks } = sourceOf(job.service.api)
  if (openBlocks === undefined) return false
  const times = await openBlocks({ chain: job.chain }).blockTimes(requestContext, block)
  return times.every((time) => !appearedSince(time))
}

/** Whether the wallet with the newest transaction has one in this block or a later one. */
async function hasItemFrom(context: FixedEndContext, block: number): Promise<boolean> {
  const { job, requestContext, newestWallet: address, appearedSince } = context
  if (address === undefined) return false
  const listing = sourceOf(job.service.api).openWallet({ chain: job.chain, address })
  const keys = await listing.firstKeys(requestContext, { from: block, to: NO_END })
  return keys.some((key) => !appearedSince(key))
}

function newestWalletIn(checkpoint: Pick<Checkpoint, 'records'>, listings: Listings): string | undefined {
  const newest = new Map<string, number>()
  for (const { wallet, blocks } of checkpoint.records(listings))
    newest.set(walletOf(wallet), Math.max(newest.get(walletOf(wallet)) ?? 0, blocks?.max ?? 0))
  return [...newest].sort(([, a], [, b]) => b - a)[0]?.[0]
}

/**
 * Resolves with undefined if the service refuses the request or keeps failing: it may not support block listings, and
 * all pages have arrived by now, so the run must not fail.
 */
async function undefinedIfRefused<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (thrown) {
    if (thrown instanceof ExportError && REFUSED_CODES.has(thrown.code)) return undefined
    throw thrown
  }
}

const REFUSED_CODES: ReadonlySet<string> = new Set([
  ...['REQUEST_REFUSED', 'KEY_REFUSED', 'SERVICE_UNAVAILABLE', 'PAGE_MALFORMED'],
])
