import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import { DEFAULT_FINALITY_MS, MAX_INDEX_LAG_MS } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'
import { type Listings, walletOf } from '../../core/model/listings.ts'
import { type Job, NO_END } from '../../core/model/model.ts'
import { CLOCK_TOLERANCE_MS, type RunStats, serviceTime } from '../../core/model/run-stats.ts'
import type { RequestContext } from '../../http/request.ts'
import { newestIndexed } from '../../sources/check-page.ts'
import { sourceOf } from '../../sources/index.ts'
import type { FetchContext } from './reading.ts'

/**
 * In a job with endBlock, finds out whether the service has indexed the block before it, before the first wallet is read:
 * every wallet is then complete. Does nothing if that is known, or if nothing is left to read.
 *
 * @returns whether it has asked the service
 */
export async function proveEnd({
  job,
  checkpoint,
  listings,
  requestContext,
  stats,
}: FetchContext): Promise<boolean> {
  const { endBlock } = job
  if (endBlock === undefined || checkpoint.indexedAtStart() >= endBlock) return false
  if (![...listings].some(([name, bounds]) => checkpoint.remaining(name, bounds).length > 0)) return false
  if (await isIndexed({ job, requestContext, stats }, endBlock - 1)) await checkpoint.addProof(endBlock)
  return true
}

/**
 * Returns the exclusive end of a run after the pages of all wallets have arrived. Without endBlock, pins it to the head
 * seen in these pages. With endBlock, it is endBlock if every wallet is complete, else one past the highest block seen.
 * The end of a run is determined only once.
 *
 * Some services list no blocks. If one shows only now that it has indexed the block before endBlock, what the wallets may
 * lack is opened again.
 */
export async function findEnd(context: FetchContext, hasAsked: boolean): Promise<number> {
  const { job, checkpoint, stats, listings, requestContext, minEnd = 0 } = context
  const { endBlock, startBlock } = job
  if (endBlock === undefined) return checkpoint.pinEndBlock(minEnd)
  if (stats.endBlock !== undefined) return stats.endBlock
  // A wallet that the service refused has no claim, but does not lower that of the others.
  if (checkpoint.indexedAtStart() >= endBlock) return endBlock
  const lagging = [...listings.keys()].filter((name) => checkpoint.indexedTo(name) < endBlock)
  if (lagging.length === 0) return endBlock
  const proof = { job, requestContext, stats }
  const newest = newestWalletIn(checkpoint, listings)
  const isProven =
    (!hasAsked && (await isIndexed(proof, endBlock - 1))) ||
    (newest !== undefined && (await hasItemFrom(proof, newest, endBlock - 1)))
  if (isProven) {
    context.onUnproven?.()
    await checkpoint.addProof(endBlock)
    for (const name of lagging) {
      const { from, to } = listings.get(name) ?? { from: endBlock, to: endBlock }
      const range = { from: Math.max(from, checkpoint.indexedTo(name)), to: Math.min(to, endBlock) }
      if (range.from < range.to) await checkpoint.reopen(name, range)
    }
    return endBlock
  }
  return Math.min(endBlock, Math.max(minEnd, startBlock, (checkpoint.head() ?? -1) + 1))
}

type ProofContext = {
  job: Pick<Job, 'chain' | 'service'>
  requestContext: RequestContext
  stats: Pick<RunStats, 'service'>
}

/** Whether the service has indexed a block, or a later one. One request, or two if this machine's clock is ahead. */
export async function isIndexed(context: ProofContext, block: number): Promise<boolean> {
  const { job, requestContext } = context
  const { lastBlockBefore, openBlocks } = sourceOf(job.service.api)
  const isKnown = lastBlockBefore === undefined ? hasBlock : isBeforeIndexed
  if (lastBlockBefore === undefined && openBlocks === undefined) return false
  return (await undefinedIfRefused(isKnown({ ...context, requestContext }, block))) === true
}

async function hasBlock({ job, requestContext }: ProofContext, block: number): Promise<boolean> {
  const { openBlocks } = sourceOf(job.service.api)
  if (openBlocks === undefined) return false
  await openBlocks({ chain: job.chain }).blockTimes(requestContext, block)
  return true
}

/** Whether the block is old enough to be indexed in all listings of an explorer. */
async function isBeforeIndexed(
  { job, requestContext, stats }: ProofContext,
  block: number,
): Promise<boolean> {
  const { chain, service } = job
  const indexedBeforeMs = () => serviceTime(stats) - MAX_INDEX_LAG_MS
  const isBefore = async (timeMs: number) =>
    ((await sourceOf(service.api).lastBlockBefore?.(requestContext, { chain, timeMs })) ?? -1) >= block
  const timeMs = indexedBeforeMs()
  // The answer shows the time of the service's clock.
  return (
    (await isBefore(timeMs)) &&
    (indexedBeforeMs() >= timeMs - CLOCK_TOLERANCE_MS || isBefore(indexedBeforeMs()))
  )
}

/** Whether a wallet has a transaction in this block or a later one. */
export async function hasItemFrom(
  { job, requestContext, stats }: ProofContext,
  address: string,
  block: number,
): Promise<boolean> {
  const listing = sourceOf(job.service.api).openWallet({ chain: job.chain, address })
  const keys = await undefinedIfRefused(listing.firstKeys(requestContext, { from: block, to: NO_END }))
  const indexedBeforeMs =
    DEFAULT_FINALITY_MS[job.service.api] === 0
      ? Number.POSITIVE_INFINITY
      : serviceTime(stats) - MAX_INDEX_LAG_MS
  return keys !== undefined && newestIndexed(keys, indexedBeforeMs) !== undefined
}

function newestWalletIn(checkpoint: Pick<Checkpoint, 'records'>, listings: Listings): string | undefined {
  const newest = new Map<string, number>()
  for (const { wallet, blocks } of checkpoint.records(listings))
    newest.set(walletOf(wallet), Math.max(newest.get(walletOf(wallet)) ?? 0, blocks?.max ?? 0))
  return [...newest].sort(([, a], [, b]) => b - a)[0]?.[0]
}

/**
 * Resolves with undefined if the service refuses the request or keeps failing: it may not support it, and the run must
 * not fail.
 */
async function undefinedIfRefused<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (error instanceof ExportError && isRefused(error)) return undefined
    throw error
  }
}

const isRefused = ({ code, status }: ExportError) =>
  REFUSED_CODES.has(code) || (code === 'SERVICE_UNAVAILABLE' && status !== undefined)

const REFUSED_CODES: ReadonlySet<string> = new Set(['REQUEST_REFUSED', 'KEY_REFUSED', 'PAGE_MALFORMED'])
