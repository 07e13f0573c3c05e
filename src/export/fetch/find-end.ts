import type { Spool } from '../../checkpoint/checkpoint.ts'
import { ExportError } from '../../core/model/errors.ts'
import { type ItemKey, isYounger } from '../../core/model/item-key.ts'
import type { Listings } from '../../core/model/listings.ts'
import { type Job, NO_END } from '../../core/model/model.ts'
import { CLOCK_TOLERANCE_MS, type Figures } from '../../core/model/run-stats.ts'
import { largest } from '../../core/platform/extremes.ts'
import { type Requester, request } from '../../http/request.ts'
import { path } from '../../sources/data-api/operations/path.ts'
import { type Page, parsePage } from '../../sources/data-api/pages/page.ts'
import { askPage } from '../../sources/data-api/pages/read-token-chain.ts'
import { itemOfNative } from '../../sources/data-api/parse-item-key.ts'
import type { Crawl } from './fetch-context.ts'

/**
 * The end of a run over wallets whose pages are all there. Without endBlock it is pinned to the head that they show; with it,
 * it is what `findFixedEnd` says. The end of a run is determined once.
 */
export async function findEnd(context: Crawl): Promise<number> {
  const { job, spool, figures, listings, requester, leastEnd } = context
  const { endBlock } = job
  if (endBlock === undefined) return spool.settleEnd(leastEnd)
  if (figures.endBlock !== undefined) return figures.endBlock
  return findFixedEnd({
    ...{ job, endBlock, requester, leastEnd },
    head: spool.head(),
    cameSince: (key) => cameSince(key, spool, figures),
    busiest: busiestIn(spool, listings),
  })
}

/**
 * Whether a transaction's block came after a run began: wallets are read at different times, and only blocks that were there
 * before count for all of them. A block that is newer than the clock, by more than block producers' clocks may differ, says that
 * the clock is behind and cannot tell. The clock is the service's where that is ahead.
 */
export function cameSince(
  key: Pick<ItemKey, 'timeMs' | 'lastMs'>,
  { begunMs }: { begunMs: number },
  { service: { aheadMs = 0 } }: Pick<Figures, 'service'>,
): boolean {
  const ahead = Math.max(0, aheadMs)
  return isYounger(key, begunMs + ahead) && key.timeMs <= Date.now() + ahead + CLOCK_TOLERANCE_MS
}

/** The highest block of a page that was there before a run began; undefined where there is none. */
export function headBefore(
  keys: Page['keys'],
  run: { begunMs: number },
  figures: Pick<Figures, 'service'>,
): number | undefined {
  const blocks = keys.filter((key) => !cameSince(key, run, figures)).map(({ block }) => block)
  return blocks.length === 0 ? undefined : largest(blocks)
}

export type FixedEnd = {
  job: Pick<Job, 'chain' | 'startBlock'>
  endBlock: number
  requester: Requester
  /** The highest block in the pages that was there before the run began; undefined where there is none. */
  head: number | undefined
  /** Whether a transaction's block came after the run began. */
  cameSince: (key: Pick<ItemKey, 'timeMs' | 'lastMs'>) => boolean
  /** The wallet with the newest transaction; undefined where no wallet has one. */
  busiest: string | undefined
  /** The end is not before this block: an export goes up to there. @default 0 */
  leastEnd?: number | undefined
}

/**
 * The end of a run with a fixed one. It counts as reached where the service shows a block at or above the last one that was
 * there before the run began: in a page, else by one request for that block, else by one for what a wallet has from there on. Where it
 * shows none, the end is one past the newest block of that time.
 */
export async function findFixedEnd(finding: FixedEnd): Promise<number> {
  const { job, endBlock, head = -1, leastEnd = 0 } = finding
  if (head >= endBlock - 1 || job.startBlock >= endBlock || (await isReached(finding, endBlock - 1)))
    return endBlock
  return Math.max(leastEnd, job.startBlock, head + 1)
}

async function isReached(finding: FixedEnd, block: number): Promise<boolean> {
  return (await unlessRefused(hasBlock(finding, block))) || (await unlessRefused(hasItemFrom(finding, block)))
}

async function hasBlock({ job, requester, cameSince }: FixedEnd, block: number): Promise<boolean> {
  const pathAndQuery = `${path`/v1/chains/${job.chain}/blocks/${block}/transactions`}?pageSize=1`
  const ask = { method: 'GET', pathAndQuery, about: `block ${block}`, handles: isMalformed } as const
  const keys = await request(requester, ask, (body) => parsePage(body, { toItem: itemOfNative }).keys)
  return keys.every((key) => typeof key === 'string' || !cameSince(key))
}

/** Whether the busiest wallet has a transaction in this block or a later one. */
async function hasItemFrom(finding: FixedEnd, block: number): Promise<boolean> {
  const { job, requester, busiest: address, cameSince } = finding
  if (address === undefined) return false
  const range = { from: block, to: NO_END }
  const ask = { chain: job.chain, address, range, order: 'asc', cutMs: Number.POSITIVE_INFINITY } as const
  const page = await askPage(requester, { ...ask, pageSize: 1 }, undefined)
  return page?.keys.some((key) => !cameSince(key)) === true
}

function busiestIn(spool: Pick<Spool, 'frames'>, listings: Listings): string | undefined {
  const newest = new Map<string, number>()
  for (const { wallet, blocks } of spool.frames(listings))
    newest.set(wallet, Math.max(newest.get(wallet) ?? 0, blocks?.max ?? 0))
  return [...newest].sort(([, a], [, b]) => b - a)[0]?.[0]
}

/** False where the service refuses the request or fails it for good: it may not list blocks, and all pages are there by now. */
async function unlessRefused(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer
  } catch (thrown) {
    if (thrown instanceof ExportError && UNANSWERED.has(thrown.code)) return false
    throw thrown
  }
}

const UNANSWERED: ReadonlySet<string> = new Set([
  ...['REQUEST_REFUSED', 'KEY_REFUSED', 'SERVICE_UNAVAILABLE', 'PAGE_MALFORMED'],
])

const isMalformed = ({ code }: ExportError) => code === 'PAGE_MALFORMED'
