import { setMaxListeners } from 'node:events'
import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import { ExportError } from '../../core/model/errors.ts'
import { isAtomicListing, type Listings, walletOf } from '../../core/model/listings.ts'
import type { Job } from '../../core/model/model.ts'
import { CLOCK_TOLERANCE_MS, type RunStats } from '../../core/model/run-stats.ts'
import type { RequestContext } from '../../http/request.ts'
import { sourceOf } from '../../sources/index.ts'
import type { PageReader, WalletListing } from '../../sources/source.ts'

/** A page in the checkpoint: its body, and the offset of the body in the log. */
export type StoredPage = { body: Buffer; offset: number }

export type FetchContext = {
  job: Job
  listings: Listings
  /** Minimum end of the run: the end of the existing export. @default 0 */
  minEnd?: number
  requestContext: RequestContext
  checkpoint: Checkpoint
  stats: RunStats
  /** Number of blocks below the head that a reorg may change between two requests. @default LOOKBACK_BLOCKS */
  mutableBlocks?: number | undefined
  /** Reads the pages of a wallet's listing, possibly in another thread. @default in this thread */
  openPageReader?: (wallet: string) => PageReader
  /** Called if blocks are read again because the service shows only now that it has indexed them. */
  onUnproven?: () => void
  /** Called after each page has been stored. */
  onPage: (page: StoredPage) => void
  /** Called with one line per notable event. */
  onNotice: (notice: string) => void
}

/** Opens a listing of a wallet by its name: that of its transactions, or that of its atomic transactions. */
export function openListing(
  { chain, internals, service }: Pick<Job, 'chain' | 'internals' | 'service'>,
  name: string,
): WalletListing {
  const wallet = { chain, address: walletOf(name) }
  const source = sourceOf(service.api)
  if (!isAtomicListing(name)) return source.openWallet({ ...wallet, internals })
  if (source.openAtomic !== undefined) return source.openAtomic(wallet)
  throw new ExportError('USAGE', 'this API does not list atomic transactions', {
    fix: 'Leave atomic out of the job.',
  })
}

export type RunReadersOptions = {
  /** Number of concurrent readers. */
  count: number
  /** Stops all readers. */
  signal: AbortSignal
  /** Called once, with the signal that the requests of the readers must observe. */
  open: (signal: AbortSignal) => ReaderTask
}

export type ReaderTask = {
  /** Runs one reader until nothing is left or the budget is spent. Requests in flight may still complete. */
  run: (isBudgetSpent: () => boolean) => Promise<void>
  /** Called when a reader fails or the budget is spent. */
  onFailure?: () => void
}

/**
 * Runs `count` readers until all have ended. The first failure aborts the others and is thrown. A spent
 * budget does not abort requests in flight.
 */
export async function runReaders({ count, signal, open }: RunReadersOptions): Promise<void> {
  const failed = new AbortController()
  const stopping = AbortSignal.any([signal, failed.signal])
  // Every request in flight adds a listener, so many listeners are not a leak.
  setMaxListeners(0, stopping)
  const { run, onFailure } = open(stopping)
  let isBudgetSpent = false
  const readers = Array.from({ length: count }, () =>
    run(() => isBudgetSpent).catch((error: unknown) => {
      if (isBudgetReached(error)) isBudgetSpent = true
      else failed.abort(error)
      onFailure?.()
      throw error
    }),
  )
  const results = await Promise.allSettled(readers)
  failed.signal.throwIfAborted()
  for (const reader of results) if (reader.status === 'rejected') throw reader.reason
}

function isBudgetReached(error: unknown): boolean {
  return error instanceof ExportError && error.code === 'BUDGET_REACHED'
}

/**
 * Thrown by the first response that shows that this machine's clock is ahead of the service's: the cutoff was lowered, no
 * page has been stored yet, and reading must start over.
 */
export class CutoffLowered extends Error {}

/** Measures `finality` by the service's clock if that is behind this machine's. */
export async function requireCutoffBefore(
  { finalityMs, endBlock }: Pick<Job, 'finalityMs' | 'endBlock'>,
  checkpoint: Pick<Checkpoint, 'begunMs' | 'cutoffMs' | 'lowerCutoff'>,
  { service: { aheadMs = 0 } }: Pick<RunStats, 'service'>,
): Promise<void> {
  if (finalityMs === 0 || endBlock !== undefined) return
  const cutoffMs = checkpoint.begunMs + aheadMs - finalityMs
  if (checkpoint.cutoffMs - cutoffMs <= CLOCK_TOLERANCE_MS) return
  await checkpoint.lowerCutoff(cutoffMs)
  throw new CutoffLowered()
}
