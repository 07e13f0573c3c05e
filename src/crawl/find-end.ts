import { path } from '../client/operations/path.ts'
import { askPage } from '../client/pages/read-chain.ts'
import { request } from '../client/request.ts'
import { ExportError } from '../core/errors.ts'
import { NO_END } from '../core/model.ts'
import type { Crawl } from './crawl-context.ts'

/**
 * The end of a run over wallets whose pages are all there. Without endBlock it is pinned to the head that they show. A
 * fixed end counts as reached where the service shows a block at or above its last one: in a page, else by one request for
 * that block, else by one for what a wallet has from there on. Where it shows none, the end is one past the newest block seen.
 * The end of a run is determined once.
 */
export async function findEnd(context: Crawl): Promise<number> {
  const { job, spool, figures, leastEnd = 0 } = context
  const { endBlock, startBlock } = job
  if (endBlock === undefined) return spool.settleEnd(leastEnd)
  if (figures.endBlock !== undefined) return figures.endBlock
  const head = spool.head() ?? -1
  if (head >= endBlock - 1 || startBlock >= endBlock || (await isReached(context, endBlock - 1)))
    return endBlock
  return Math.max(leastEnd, startBlock, head + 1)
}

async function isReached(context: Crawl, block: number): Promise<boolean> {
  return (await unlessRefused(hasBlock(context, block))) || (await unlessRefused(hasItemFrom(context, block)))
}

async function hasBlock({ job, requester }: Crawl, block: number): Promise<boolean> {
  const pathAndQuery = `${path`/v1/chains/${job.chain}/blocks/${block}/transactions`}?pageSize=1`
  await request(requester, { method: 'GET', pathAndQuery, about: `block ${block}` }, () => undefined)
  return true
}

/** Whether the busiest wallet has a transaction in this block or a later one. */
async function hasItemFrom({ job, listings, requester, spool }: Crawl, block: number): Promise<boolean> {
  const newest = new Map<string, number>()
  for (const { wallet, blocks } of spool.frames(listings))
    newest.set(wallet, Math.max(newest.get(wallet) ?? 0, blocks?.max ?? 0))
  const [[address] = [undefined]] = [...newest].sort(([, a], [, b]) => b - a)
  if (address === undefined) return false
  const range = { from: block, to: NO_END }
  const ask = { chain: job.chain, address, range, order: 'asc', cutMs: Number.POSITIVE_INFINITY } as const
  const page = await askPage(requester, { ...ask, pageSize: 1 }, undefined)
  return page !== undefined && page.items > 0
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

const UNANSWERED: ReadonlySet<string> = new Set(['REQUEST_REFUSED', 'KEY_REFUSED', 'SERVICE_UNAVAILABLE'])
