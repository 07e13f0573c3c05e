import { countBlocks } from '../../core/model/block-ranges.ts'
import { ExportError } from '../../core/model/errors.ts'
import { BLOCKS } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { recordSmallPages } from '../../core/model/run-stats.ts'
import {
  type AdaptivePageSize,
  createAdaptivePageSize,
} from '../../sources/data-api/pages/adaptive-page-size.ts'
import { type PartialBlock, readBlock } from '../../sources/data-api/pages/read-block.ts'
import type { FetchContext, StoredPage } from './fetch-context.ts'
import { fetchWallets } from './fetch-wallets.ts'
import { type ReaderTask, runReaders } from './run-readers.ts'

/** Asks the service for all that the job exports and the spool does not hold yet; resolves with the end, exclusive. */
export function fetchJob(context: FetchContext): Promise<number> {
  return context.job.kind === 'blocks' ? fetchBlocks(context) : fetchWallets(context)
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
async function fetchBlocks(context: FetchContext): Promise<number> {
  const { checkpoint, stats } = context
  const probe: ChainProbe = { isKnown: countFound(context) > 0, refusal: undefined }
  const reader = { ...context, probe, size: createAdaptivePageSize() }
  const blocks = blocksInFetchOrder([...checkpoint.remaining(BLOCKS)])
  stats.share = stats.shareAtStart = shareCompleted(context)
  await readBlocks(
    reader,
    blocks,
    () => !probe.isKnown && countBlocks(checkpoint.missing()) < MAX_UNKNOWN_BLOCKS,
  )
  if (!probe.isKnown) await throwUnknownChain(reader)
  await readBlocks(reader, blocks, () => true)
  stats.missing = checkpoint.missing()
  return checkpoint.pinEndBlock()
}

/** The last block, then all others in ascending order. */
function* blocksInFetchOrder(ranges: readonly BlockRange[]): Generator<number> {
  const end = ranges.at(-1)?.to ?? 0
  if (end > 0) yield end - 1
  for (const { from, to } of ranges)
    for (let block = from; block < Math.min(to, end - 1); block += 1) yield block
}

/** What is known of the service: whether it has any block of the range, and what it said when it had not. */
type ChainProbe = { isKnown: boolean; refusal: ExportError | undefined }

type BlockReader = FetchContext & { probe: ChainProbe; size: AdaptivePageSize }

/** So many blocks that are not there, and none that is, say that the service does not know the chain. */
const MAX_UNKNOWN_BLOCKS = 100

/** As many readers as the job allows take one block after the other, as long as it is worth going on. */
async function readBlocks(
  reader: BlockReader,
  blocks: Iterator<number>,
  shouldContinue: () => boolean,
): Promise<void> {
  const { job, requestContext } = reader
  const open = (signal: AbortSignal): ReaderTask => ({
    run: async (isSpent) => {
      while (!isSpent() && shouldContinue()) {
        const next = blocks.next()
        if (next.done) return
        await fetchBlock({ ...reader, requestContext: { ...requestContext, signal } }, next.value)
      }
    },
  })
  await runReaders({ count: job.concurrency, signal: requestContext.signal, open })
}

async function fetchBlock(reader: BlockReader, block: number): Promise<void> {
  const { job, checkpoint, stats, onPage, onNotice, probe } = reader
  try {
    onPage(await fetchCompleteBlock(reader, block))
    probe.isKnown = true
  } catch (thrown) {
    if (!(thrown instanceof ExportError) || thrown.status !== 404) throw thrown
    if (probe.refusal === undefined || block + 1 === job.endBlock) onNotice(missingBlockNotice(job, block))
    probe.refusal ??= thrown
    await checkpoint.addMissing(block)
  }
  stats.share = Math.min(1, stats.share + 1 / blocksIn(job))
}

async function fetchCompleteBlock(
  { job, requestContext, checkpoint, stats, size }: BlockReader,
  block: number,
): Promise<StoredPage> {
  const partial = await checkpoint.partial(block)
  const onIncomplete = (pages: PartialBlock) => checkpoint.addPartial(block, pages)
  const complete = await readBlock(requestContext, { chain: job.chain, block, partial, onIncomplete, size })
  recordSmallPages(stats, BLOCKS, size.smallest())
  const { offset } = await checkpoint.addPage(BLOCKS, {
    ...complete,
    body: complete.items === 0 ? Buffer.alloc(0) : complete.body,
    blocks: { min: block, max: block },
    head: undefined,
    covered: { from: block, to: block + 1 },
  })
  stats.pages += complete.pages - (partial?.pages ?? 0)
  stats.items += complete.items - (partial?.items ?? 0)
  return { body: complete.body, offset }
}

function missingBlockNotice({ name, endBlock }: FetchContext['job'], block: number): string {
  const what = `${name}: block ${block} is not there (404)`
  return block + 1 === endBlock
    ? `${what}: it is the last one asked for; endBlock may lie beyond the chain's head`
    : `${what}; the run goes on and names all missing blocks at its end`
}

const blocksIn = ({ startBlock, endBlock = startBlock }: FetchContext['job']) => endBlock - startBlock

function shareCompleted({ job, checkpoint }: FetchContext): number {
  return 1 - countBlocks(checkpoint.remaining(BLOCKS)) / blocksIn(job)
}

/** Blocks that the spool holds. */
function countFound({ job, checkpoint }: FetchContext): number {
  return blocksIn(job) - countBlocks(checkpoint.remaining(BLOCKS)) - countBlocks(checkpoint.missing())
}

/** Nothing is known of blocks that a service did not show: they are left to be asked for again. */
async function throwUnknownChain({ job, checkpoint, probe }: BlockReader): Promise<never> {
  const requestedBlocks = countBlocks(checkpoint.missing())
  await checkpoint.reopenMissing()
  const { message = 'the service answered 404' } = probe.refusal ?? {}
  throw new ExportError(
    'REQUEST_REFUSED',
    `none of the ${requestedBlocks} blocks asked for is on chain ${job.chain}: ${message}`,
    { fix: 'Check chain, startBlock and endBlock of the job, and the base URL, against the service.' },
  )
}
