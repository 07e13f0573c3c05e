import { type Page, type PageLimits, readPage } from '../client/pages/page.ts'
import { createPageSize, type PageSize } from '../client/pages/page-size.ts'
import { readRange } from '../client/pages/read-range.ts'
import type { Requester } from '../client/request.ts'
import { type Figures, noteSmallPages } from '../core/figures.ts'
import type { Listings } from '../core/listings.ts'
import { type BlockRange, type Job, NO_END } from '../core/model.ts'
import type { Spool } from '../spool/spool.ts'
import { type Claim, createReadPlan, type Piece } from './read-plan.ts'
import { type Reading, runReaders } from './run-readers.ts'

/** A page that is on disk: the body that was received, and where it begins there. */
export type KeptPage = { body: Buffer; offset: number }

export type Crawl = {
  job: Job
  listings: Listings
  /** The end is not before this block: an export goes up to there. @default 0 */
  leastEnd?: number
  requester: Requester
  spool: Spool
  figures: Figures
  /** Reads the body of a wallet's page; another thread may do it. @default it is done here, and nothing else */
  readPage?: (wallet: string, body: Buffer, limits: PageLimits) => Page | Promise<Page>
  /** Called as each page is on disk, with its body and where that lies. */
  onPage: (page: KeptPage) => void
  /** Told what is worth knowing while it goes on. */
  onNotice: (notice: string) => void
}

/**
 * Asks the service for everything that the spool does not hold yet; resolves with the run's pinned end (exclusive).
 *
 * Without `endBlock` no request says where the head is, so each wallet's open end is read newest block first: the
 * highest block of all first pages, not younger than the run's start less `finality`, is the head for all wallets.
 * Where the chain grew while a run was interrupted, wallets read before are asked for what they lack up to that end.
 */
export async function crawlWallets(context: Crawl): Promise<number> {
  await readPieces(context, openPieces(context))
  const end = await context.spool.settleEnd(context.leastEnd)
  await readPieces(context, openPieces(context))
  return end
}

function* openPieces({ listings, spool }: Crawl): Generator<Piece> {
  for (const [address, counted] of listings) {
    for (const range of spool.remaining(address, counted)) {
      yield { address, range, order: range.to === NO_END ? 'desc' : 'asc' }
    }
  }
}

/** As many readers as the job allows share the pieces until all is read; the first failure stops all. */
async function readPieces(context: Crawl, pieces: Iterable<Piece>): Promise<void> {
  const { job, requester } = context
  const open = (signal: AbortSignal) =>
    sharePieces({ ...context, requester: { ...requester, signal } }, pieces)
  await runReaders({ count: job.concurrency, signal: requester.signal, open })
}

function sharePieces(context: Crawl, pieces: Iterable<Piece>): Reading {
  const plan = createReadPlan(pieces)
  const idle = createBell(context.requester.signal)
  const inside = { ...context, onProgress: idle.ring, sizes: new Map<string, PageSize>() }
  return {
    onFailure: idle.ring,
    read: async (isSpent) => {
      while (!isSpent()) {
        const claim = plan.claim()
        if (claim !== undefined) await readClaim(inside, claim).finally(idle.ring)
        else if (plan.isOver()) return
        else await idle.wait()
      }
    },
  }
}

/** Lets idle readers sleep until somebody has got a page. */
function createBell(signal: AbortSignal): { wait: () => Promise<void>; ring: () => void } {
  let sleepers: (() => void)[] = []
  const ring = () => {
    const woken = sleepers
    sleepers = []
    for (const wake of woken) wake()
  }
  signal.addEventListener('abort', ring)
  return {
    ring,
    wait: async () => {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => sleepers.push(resolve))
      signal.throwIfAborted()
    },
  }
}

type Claiming = Crawl & {
  onProgress: () => void
  /** By wallet: its readers share one. */
  sizes: Map<string, PageSize>
}

async function readClaim(context: Claiming, claim: Claim): Promise<void> {
  const { job, requester, spool, figures, onPage, onProgress, sizes } = context
  const { address, range, order } = claim
  const size = sizes.get(address) ?? createPageSize()
  sizes.set(address, size)
  const advance = (rest: BlockRange, page: Page) => {
    const wanted = claim.advance(rest, page)
    onProgress()
    return wanted
  }
  const read = (body: Buffer, limits: PageLimits) =>
    context.readPage === undefined ? readPage(body, limits) : context.readPage(address, body, limits)
  const head = () => (job.endBlock === undefined ? spool.head() : job.endBlock - 1)
  const ask = { chain: job.chain, address, range, order, cutMs: spool.cutMs, advance, read, size, head }
  for await (const page of readRange(requester, ask)) {
    const { offset } = await spool.addPage(address, page)
    onPage({ body: page.body, offset })
    requester.client.reuse(page.body)
    figures.pages += 1
    figures.items += page.items
    noteSmallPages(figures, address, size.smallest())
    figures.share = shareSettled(figures.share, { job, covered: page.covered, head: spool.head() })
  }
  claim.end()
}

type Settled = { job: Job; covered: BlockRange; head: number | undefined }

/** The share of the job's blocks that pages have settled, all wallets together; without an end, up to the head. */
function shareSettled(share: number, { job, covered, head }: Settled): number {
  const end = job.endBlock ?? (head ?? job.startBlock) + 1
  const blocks = (end - job.startBlock) * job.wallets.length
  const settled = Math.min(covered.to, end) - Math.min(covered.from, end)
  return blocks <= 0 ? 1 : Math.min(1, share + settled / blocks)
}
