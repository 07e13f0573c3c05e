import { type BlockRange, type Job, NO_END } from '../../core/model/model.ts'
import { noteSmallPages } from '../../core/model/run-stats.ts'
import { createPageSize, type PageSize } from '../../sources/data-api/pages/adaptive-page-size.ts'
import { type Page, type PageLimits, readPage } from '../../sources/data-api/pages/page.ts'
import { readRange } from '../../sources/data-api/pages/read-range.ts'
import type { Crawl } from './fetch-context.ts'
import { findEnd, headBefore } from './find-end.ts'
import { type Claim, createReadPlan, type Piece } from './read-plan.ts'
import { type Reading, runReaders } from './run-readers.ts'
import { createRefusals, type Refusals } from './wallet-refusals.ts'

/**
 * Asks the service for everything that the spool does not hold yet; resolves with the run's pinned end (exclusive).
 *
 * Without `endBlock` no request says where the head is, so each wallet's open end is read newest block first: the
 * highest block of all first pages, not younger than the run's start less `finality`, is the head for all wallets.
 * Where the chain grew while a run was interrupted, wallets read before are asked for what they lack up to that end. An
 * `endBlock` that the chain had not reached when the run began leaves the end at the head of that time likewise.
 *
 * A wallet whose listing is refused (400, 403, 404) while others are answered does not end the run: it is noted in the
 * figures, and its blocks stay in the spool's `remaining`.
 */
export async function crawlWallets(context: Crawl): Promise<number> {
  const refusals = createRefusals(context)
  const inside = { ...context, refusals, sizes: new Map<string, PageSize>() }
  await readPieces(inside, openPieces(inside))
  await refusals.confirm()
  const end = await findEnd(context)
  await readPieces(inside, openPieces(inside))
  context.figures.refused = await refusals.confirm()
  return end
}

function* openPieces({ listings, spool, refusals }: Crawling): Generator<Piece> {
  for (const [address, counted] of listings) {
    if (refusals.has(address)) continue
    for (const range of spool.remaining(address, counted)) {
      yield { address, range, order: range.to === NO_END ? 'desc' : 'asc' }
    }
  }
}

/** As many readers as the job allows share the pieces until all is read; the first failure stops all. */
async function readPieces(context: Crawling, pieces: Iterable<Piece>): Promise<void> {
  const { job, requester } = context
  const open = (signal: AbortSignal) =>
    sharePieces({ ...context, requester: { ...requester, signal } }, pieces)
  await runReaders({ count: job.concurrency, signal: requester.signal, open })
}

function sharePieces(context: Crawling, pieces: Iterable<Piece>): Reading {
  const plan = createReadPlan(pieces)
  const idle = createBell(context.requester.signal)
  const inside = { ...context, onProgress: idle.ring }
  return {
    onFailure: idle.ring,
    read: async (isSpent) => {
      while (!isSpent()) {
        const claim = plan.claim()
        if (claim !== undefined) await readUnlessRefused(inside, claim).finally(idle.ring)
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

/** Reads a claim; a refusal of its wallet is noted, and the rest of the claim given up. */
async function readUnlessRefused(context: Claiming, claim: Claim): Promise<void> {
  const { refusals } = context
  if (!refusals.has(claim.address)) {
    await readClaim(context, claim).catch((thrown: unknown) => refusals.add(claim.address, thrown))
  }
  claim.end()
}

type Crawling = Crawl & {
  refusals: Refusals
  /** By wallet: its readers share one. */
  sizes: Map<string, PageSize>
}
type Claiming = Crawling & { onProgress: () => void }

async function readClaim(context: Claiming, claim: Claim): Promise<void> {
  const { job, requester, spool, figures, onPage, onProgress, sizes, refusals } = context
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
  const { mutableBlocks } = context
  const wallet = { chain: job.chain, address, cutMs: spool.cutMs, mutableBlocks }
  for await (const page of readRange(requester, { ...wallet, range, order, advance, read, size, head })) {
    refusals.answered()
    const shown = job.endBlock === undefined ? page.head : headBefore(page.keys, spool, figures)
    const { offset } = await spool.addPage(address, { ...page, head: shown })
    onPage({ body: page.body, offset })
    requester.client.reuse(page.body)
    figures.pages += 1
    figures.items += page.items
    noteSmallPages(figures, address, size.smallest())
    figures.share = shareSettled(figures.share, { job, covered: page.covered, head: spool.head() })
  }
}

type Settled = { job: Job; covered: BlockRange; head: number | undefined }

/** The share of the job's blocks that pages have settled, all wallets together; without an end, up to the head. */
function shareSettled(share: number, { job, covered, head }: Settled): number {
  const end = job.endBlock ?? (head ?? job.startBlock) + 1
  const blocks = (end - job.startBlock) * job.wallets.length
  const settled = Math.min(covered.to, end) - Math.min(covered.from, end)
  return blocks <= 0 ? 1 : Math.min(1, share + settled / blocks)
}
