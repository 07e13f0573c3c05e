import { countBlocks } from '../../core/model/block-ranges.ts'
import { ExportError } from '../../core/model/errors.ts'
import { BLOCKS } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { noteSmallPages } from '../../core/model/run-stats.ts'
import { createPageSize, type PageSize } from '../../sources/data-api/pages/adaptive-page-size.ts'
import { type BegunBlock, readBlock } from '../../sources/data-api/pages/read-block.ts'
import type { Crawl, KeptPage } from './fetch-context.ts'
import { crawlWallets } from './fetch-wallets.ts'
import { type Reading, runReaders } from './run-readers.ts'

/** Asks the service for all that the job exports and the spool does not hold yet; resolves with the end, exclusive. */
export function crawlJob(context: Crawl): Promise<number> {
  return context.job.kind === 'blocks' ? crawlBlocks(context) : crawlWallets(context)
}

/**
 * Asks the service for every block of the range that the spool does not hold yet; resolves with the range's end.
 *
 * Blocks do not depend on each other: as many readers as the job allows take the next one, going up, so that what is
 * settled grows from below. Only the last block comes first: where it is not there, the range most likely ends beyond
 * the chain's head, which is worth saying at once. A block that the service does not have (404) is noted as missing.
 * Throws REQUEST_REFUSED where the service has none of the first blocks, nor the last: it does not know the chain, or
 * the range begins beyond the head.
 */
async function crawlBlocks(context: Crawl): Promise<number> {
  const { spool, figures } = context
  const sight: Sight = { isKnown: countFound(context) > 0, refusal: undefined }
  const reader = { ...context, sight, size: createPageSize() }
  const blocks = blocksOf([...spool.remaining(BLOCKS)])
  figures.share = figures.shareAtStart = shareSettled(context)
  await readBlocks(reader, blocks, () => !sight.isKnown && countBlocks(spool.missing()) < UNKNOWN_BLOCKS)
  if (!sight.isKnown) await refuse(reader)
  await readBlocks(reader, blocks, () => true)
  figures.missing = spool.missing()
  return spool.settleEnd()
}

/** The last block, then all others in ascending order. */
function* blocksOf(ranges: readonly BlockRange[]): Generator<number> {
  const end = ranges.at(-1)?.to ?? 0
  if (end > 0) yield end - 1
  for (const { from, to } of ranges)
    for (let block = from; block < Math.min(to, end - 1); block += 1) yield block
}

/** What is known of the service: whether it has any block of the range, and what it said when it had not. */
type Sight = { isKnown: boolean; refusal: ExportError | undefined }

type Reader = Crawl & { sight: Sight; size: PageSize }

/** So many blocks that are not there, and none that is, say that the service does not know the chain. */
const UNKNOWN_BLOCKS = 100

/** As many readers as the job allows take one block after the other, as long as it is worth going on. */
async function readBlocks(reader: Reader, blocks: Iterator<number>, isWorth: () => boolean): Promise<void> {
  const { job, requester } = reader
  const open = (signal: AbortSignal): Reading => ({
    read: async (isSpent) => {
      while (!isSpent() && isWorth()) {
        const next = blocks.next()
        if (next.done) return
        await keepBlock({ ...reader, requester: { ...requester, signal } }, next.value)
      }
    },
  })
  await runReaders({ count: job.concurrency, signal: requester.signal, open })
}

async function keepBlock(reader: Reader, block: number): Promise<void> {
  const { job, spool, figures, onPage, onNotice, sight } = reader
  try {
    onPage(await readWhole(reader, block))
    sight.isKnown = true
  } catch (thrown) {
    if (!(thrown instanceof ExportError) || thrown.status !== 404) throw thrown
    if (sight.refusal === undefined || block + 1 === job.endBlock) onNotice(noticeOf(job, block))
    sight.refusal ??= thrown
    await spool.addMissing(block)
  }
  figures.share = Math.min(1, figures.share + 1 / blocksIn(job))
}

async function readWhole({ job, requester, spool, figures, size }: Reader, block: number): Promise<KeptPage> {
  const begun = await spool.begun(block)
  const onStop = (pages: BegunBlock) => spool.addBegun(block, pages)
  const whole = await readBlock(requester, { chain: job.chain, block, begun, onStop, size })
  noteSmallPages(figures, BLOCKS, size.smallest())
  const { offset } = await spool.addPage(BLOCKS, {
    ...whole,
    body: whole.items === 0 ? Buffer.alloc(0) : whole.body,
    blocks: { min: block, max: block },
    head: undefined,
    covered: { from: block, to: block + 1 },
  })
  figures.pages += whole.pages - (begun?.pages ?? 0)
  figures.items += whole.items - (begun?.items ?? 0)
  return { body: whole.body, offset }
}

function noticeOf({ name, endBlock }: Crawl['job'], block: number): string {
  const what = `${name}: block ${block} is not there (404)`
  return block + 1 === endBlock
    ? `${what}: it is the last one asked for; endBlock may lie beyond the chain's head`
    : `${what}; the run goes on and names all missing blocks at its end`
}

const blocksIn = ({ startBlock, endBlock = startBlock }: Crawl['job']) => endBlock - startBlock

function shareSettled({ job, spool }: Crawl): number {
  return 1 - countBlocks(spool.remaining(BLOCKS)) / blocksIn(job)
}

/** Blocks that the spool holds. */
function countFound({ job, spool }: Crawl): number {
  return blocksIn(job) - countBlocks(spool.remaining(BLOCKS)) - countBlocks(spool.missing())
}

/** Nothing is known of blocks that a service did not show: they are left to be asked for again. */
async function refuse({ job, spool, sight }: Reader): Promise<never> {
  const asked = countBlocks(spool.missing())
  await spool.reopenMissing()
  const { message = 'the service answered 404' } = sight.refusal ?? {}
  throw new ExportError(
    'REQUEST_REFUSED',
    `none of the ${asked} blocks asked for is on chain ${job.chain}: ${message}`,
    { fix: 'Check chain, startBlock and endBlock of the job, and the base URL, against the service.' },
  )
}
