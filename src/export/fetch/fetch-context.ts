import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { Listings } from '../../core/model/listings.ts'
import type { Job } from '../../core/model/model.ts'
import type { RunStats } from '../../core/model/run-stats.ts'
import type { RequestContext } from '../../http/request.ts'
import type { PageReader } from '../../sources/source.ts'

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
  /** Called after each page has been stored. */
  onPage: (page: StoredPage) => void
  /** Called with one line per notable event. */
  onNotice: (notice: string) => void
}
