import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { Listings } from '../../core/model/listings.ts'
import type { Job } from '../../core/model/model.ts'
import type { RunStats } from '../../core/model/run-stats.ts'
import type { RequestContext } from '../../http/request.ts'
import type { Page, PageLimits } from '../../sources/data-api/pages/page.ts'

/** A page that is on disk: the body that was received, and where it begins there. */
export type StoredPage = { body: Buffer; offset: number }

export type FetchContext = {
  job: Job
  listings: Listings
  /** The end is not before this block: an export goes up to there. @default 0 */
  minEnd?: number
  requestContext: RequestContext
  checkpoint: Checkpoint
  stats: RunStats
  /** So many blocks below the head may change between two requests. @default 32 */
  mutableBlocks?: number | undefined
  /** Reads the body of a wallet's page; another thread may do it. @default it is done here, and nothing else */
  readPage?: (wallet: string, body: Buffer, limits: PageLimits) => Page | Promise<Page>
  /** Called as each page is on disk, with its body and where that lies. */
  onPage: (page: StoredPage) => void
  /** Told what is worth knowing while it goes on. */
  onNotice: (notice: string) => void
}
