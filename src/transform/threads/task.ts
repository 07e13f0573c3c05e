import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { Api } from '../../core/model/api.ts'
import { toExportError } from '../../core/model/errors.ts'
import type { Listings } from '../../core/model/listings.ts'
import type { Coverage } from '../../core/model/manifest.ts'
import type { Job, PartitionBy } from '../../core/model/model.ts'
import { labelsOf } from '../../core/model/wallet-sample.ts'
import { sourceOf } from '../../sources/index.ts'
import type { Page, PageLimits, Source } from '../../sources/source.ts'
import type { FeeSource } from '../fees.ts'
import { createFlattener, type RowContext } from '../flatten-views.ts'
import {
  itemsOf,
  itemsOfPage,
  olderThanCutoff,
  type PageItems,
  type PageLocation,
} from '../merge/page-items.ts'
import { openPageReader } from '../page-reader.ts'
import { openStageFiles, type StagedPage, type StageFormat, stagePage } from '../staged/stage-page.ts'
import { type BatchRows, type BlockRangeBatch, writeBatch } from '../write-batch.ts'

/**
 * Settings that all write tasks of a job share. Structured-cloneable, so that they can be passed to a thread.
 */
export type WriteContext = RowContext &
  StageFormat & {
    /** The API that the pages come from. */
    api: Api
    /** Blocks before this one are exported already. */
    from: number
    /** Items that may be newer than this time (milliseconds since 1970) are ignored. */
    cutoffMs: number
    /** @default no partitions */
    partitionBy?: PartitionBy | undefined
    /** Prices at the time when the runner is opened. */
    fees: FeeSource
    /** Path of the checkpoint file that contains the pages. */
    pagesFile: string
  }

/** A self-contained unit of work. Tasks and results are structured-cloneable; rows are passed in files. */
export type WriteTask =
  | { kind: 'stage'; pages: readonly PageLocation[] }
  | { kind: 'batch'; batch: BlockRangeBatch }
  /** Writes buffered lines to files, where other threads can read them. */
  | { kind: 'flush' }
  /** Sets the prices that rows are built with from now on. */
  | { kind: 'fees'; fees: FeeSource }

export type WriteResult<T extends WriteTask> = T extends { kind: 'batch' }
  ? BatchRows
  : T extends { kind: 'stage' }
    ? readonly StagedPage[]
    : undefined

/** A received page of a wallet's listing, and the limits of its request. */
export type PageTask = { wallet: string; body: Buffer; limits: PageLimits }

/** Runs tasks one at a time. */
export type TaskRunner = {
  /** Throws an ExportError. */
  run<T extends WriteTask>(task: T): WriteResult<T>
  /** Parses a page like `parsePage` of the source. `stage` then stages its rows. */
  read(task: PageTask): { page: Page; stage: () => StagedPage }
  /** See `readAnswer` of the source. */
  readAnswer: Source['readAnswer']
  /** Closes the staging files and the checkpoint. The next task opens them again. */
  close(): void
}

/** Opens a runner for the current thread. */
export function openTaskRunner(context: WriteContext): TaskRunner {
  const files = openStageFiles(context)
  let { fees } = context
  const source = sourceOf(context.api)
  const flatten = createFlattener(context, source, () => fees)
  const pageReader = openPageReader(context)
  const stage = ({ items, entries }: PageItems) => {
    const included = olderThanCutoff(items, context.cutoffMs).filter(({ key }) => key.block >= context.from)
    return stagePage({ items: included, entries }, files, flatten)
  }
  const stageStored = (location: PageLocation) =>
    stage(
      itemsOfPage({
        wallet: location.wallet,
        body: pageReader.read(location),
        chain: context.chain,
        source,
      }),
    )
  const runTask = (task: WriteTask) => {
    if (task.kind === 'stage') return task.pages.map(stageStored)
    if (task.kind === 'batch')
      return writeBatch(task.batch, { ...context, files, flatten, pageReader, source })
    if (task.kind === 'flush') return files.flush()
    fees = task.fees
    return undefined
  }
  const withExportError = <T>(make: () => T): T => {
    try {
      return make()
    } catch (error) {
      throw toExportError(error)
    }
  }
  return {
    run: <T extends WriteTask>(task: T) => withExportError(() => runTask(task)) as WriteResult<T>,
    read: ({ wallet, body, limits }) => {
      const { page, items: listed, keys } = source.parsePage(body, limits)
      const items = () => itemsOf({ wallet, listed, keys })
      return { page, stage: () => withExportError(() => stage({ items: items(), entries: listed.length })) }
    },
    readAnswer: source.readAnswer,
    close: () => {
      files.close()
      pageReader.close()
    },
  }
}

export type WriteContextOptions = {
  job: Pick<
    Job,
    | 'chain'
    | 'nativeSymbol'
    | 'wraps'
    | 'wrappedCoins'
    | 'tables'
    | 'format'
    | 'escapeFormulas'
    | 'partitionBy'
    | 'service'
  >
  checkpoint: Pick<Checkpoint, 'cutoffMs' | 'path'>
  listings: Listings
  /** Wallets whose labels are used. */
  wallets: readonly Pick<Coverage, 'address' | 'label'>[]
  /** Blocks before this one are exported already. */
  from: number
  /** Folder of the staging files. */
  folder: string
  /** Prices at the beginning. */
  fees: FeeSource
}

/** Builds the context that all write tasks of a job share. */
export function writeContext({
  job,
  checkpoint,
  listings,
  wallets,
  from,
  folder,
  fees,
}: WriteContextOptions): WriteContext {
  const { chain, nativeSymbol, wraps, wrappedCoins, tables, format, escapeFormulas, partitionBy } = job
  return {
    api: job.service.api,
    chain,
    nativeSymbol,
    wraps,
    wrappedCoins,
    tables,
    format,
    escapeFormulas,
    partitionBy,
    from,
    folder,
    fees,
    addresses: [...listings.keys()],
    endBlocks: endBlocksOf(listings),
    labels: labelsOf(wallets),
    cutoffMs: checkpoint.cutoffMs,
    pagesFile: checkpoint.path,
  }
}

/** Returns the end blocks of the listings that count only up to a block (wallets removed from the job). */
function endBlocksOf(listings: Listings): Map<string, number> {
  const bounded = [...listings].filter(([, { to }]) => to !== Number.POSITIVE_INFINITY)
  return new Map(bounded.map(([address, { to }]) => [address, to]))
}
