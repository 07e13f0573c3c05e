import { countBlocks } from '../../core/model/block-ranges.ts'
import { ExportError } from '../../core/model/errors.ts'
import { BLOCKS } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { recordSmallPages } from '../../core/model/run-stats.ts'
import { sourceOf } from '../../sources/index.ts'
import type { BlockListing, PartialBlock } from '../../sources/source.ts'
import { fetchWallets } from './fetch-wallets.ts'
import type { FetchContext, StoredPage } from './reading.ts'
import { type ReaderTask, runReaders } from './reading.ts'

/** Fetches everything that the job exports and the checkpoint lacks. Resolves with the exclusive end. */
export function fetchJob(context: FetchContext): Promise<number> {
  return context.job.kind === 'blocks' ? fetchBlocks(context) : fetchWallets(context)
}

/**
 * Fetches every block of the range that the checkpoint lacks. Resolves with the end of the range.
 *
 * Blocks are independent of each other. `concurrency` readers take them in ascending order, except that the
 * last block comes first: if it does not exist, the range probably extends beyond the head, and the user
 * should know immediately. A block that the service does not have (404) is recorded as missing.
 *
 * @throws REQUEST_REFUSED if the service has neither the last block nor any of the first ones: it does not know
 * the chain, or the range begins beyond the head
 */
async function fetchBlocks(context: FetchContext): Promise<number> {
  const { job, checkpoint, stats } = context
  const { openBlocks } = sourceOf(job.service.api)
  if (openBlocks === undefined)
    throw new ExportError('USAGE', `the API ${job.service.api} does not list the transactions of a block`, {
      fix: 'Export wallets (addresses), or name a service with service.api: data-api.',
    })
  const probe: ChainProbe = { isKnown: countFound(context) > 0, refusal: undefined }
  const reader = { ...context, probe, listing: openBlocks({ chain: job.chain }) }
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

/** Whether the service has any block of the range, and its first 404. */
type ChainProbe = { isKnown: boolean; refusal: ExportError | undefined }

type BlockReader = FetchContext & { probe: ChainProbe; listing: BlockListing }

/** If this many blocks are missing and none has been found, the chain counts as unknown to the service. */
const MAX_UNKNOWN_BLOCKS = 100

/** Reads blocks with `concurrency` readers as long as `shouldContinue` returns true. */
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
  } catch (error) {
    if (!(error instanceof ExportError) || error.status !== 404) throw error
    if (probe.refusal === undefined || block + 1 === job.endBlock) onNotice(missingBlockNotice(job, block))
    probe.refusal ??= error
    await checkpoint.addMissing(block)
  }
  stats.share = Math.min(1, stats.share + 1 / blocksIn(job))
}

async function fetchCompleteBlock(
  { requestContext, checkpoint, stats, listing }: BlockReader,
  block: number,
): Promise<StoredPage> {
  const partial = await checkpoint.partial(block)
  const onIncomplete = (pages: PartialBlock) => checkpoint.addPartial(block, pages)
  const complete = await listing.readBlock(requestContext, { block, partial, onIncomplete })
  recordSmallPages(stats, BLOCKS, listing.reducedPageSize())
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
    ? `${what}; it is the last requested block, so endBlock may be beyond the chain's head`
    : `${what}; the run continues and lists all missing blocks at the end`
}

const blocksIn = ({ startBlock, endBlock = startBlock }: FetchContext['job']) => endBlock - startBlock

function shareCompleted({ job, checkpoint }: FetchContext): number {
  return 1 - countBlocks(checkpoint.remaining(BLOCKS)) / blocksIn(job)
}

/** Number of blocks that the checkpoint contains. */
function countFound({ job, checkpoint }: FetchContext): number {
  return blocksIn(job) - countBlocks(checkpoint.remaining(BLOCKS)) - countBlocks(checkpoint.missing())
}

/** Throws REQUEST_REFUSED. The blocks are not known to be missing, so they are reopened. */
async function throwUnknownChain({ job, checkpoint, probe }: BlockReader): Promise<never> {
  const requestedBlocks = countBlocks(checkpoint.missing())
  await checkpoint.reopenMissing()
  const { message = 'the service answered 404' } = probe.refusal ?? {}
  throw new ExportError(
    'REQUEST_REFUSED',
    `none of the ${requestedBlocks} requested blocks exists on chain ${job.chain}: ${message}`,
    { fix: 'Check chain, startBlock and endBlock of the job, and the base URL, against the service.' },
  )
}
