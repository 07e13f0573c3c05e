import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { BLOCKS, type Listings } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import { source } from '../sources/index.ts'
import type { Page, PageLimits } from '../sources/source.ts'
import { pagesIn, totalBytes } from './batches.ts'
import type { PageLocation } from './merge/page-source.ts'
import type { StagedPage } from './staged/stage-page.ts'
import type { StagedPageLocation } from './staged/staged-source.ts'
import type { WritePool } from './threads/pool.ts'

export type StagingOptions = {
  checkpoint: Pick<Checkpoint, 'records' | 'resumed'>
  /** The listings that the run reads. */
  listings: Listings
  /** Blocks before this one are exported already. */
  from: number
  pool: WritePool
  /** Called when the rows of a page are staged. */
  onStaged: (page: StagedPage) => void
}

/**
 * Stages the rows of every page. Most pages are staged on arrival by the thread that parses them. Pages of
 * earlier processes and runs, block pages, and pages that arrived while no thread was available are staged
 * from the checkpoint.
 */
export type Staging = {
  /** Parses and checks a page of a wallet's listing, like `parsePage` of the source. */
  readPage(wallet: string, body: Buffer, limits: PageLimits): Promise<Page>
  /**
   * Must be called after a page was appended to the checkpoint, with the body that `readPage` returned and
   * its offset.
   */
  onPageStored(page: { body: Buffer; offset: number }): void
  /**
   * Resolves with all pages that may contain items of these blocks, in the order in which they were received,
   * once their rows are staged and flushed to files.
   */
  finish(range: BlockRange): Promise<StagedPageLocation[]>
}

/**
 * Bytes of stored pages that one task stages. A page that arrives on the same thread waits until the task
 * ends.
 */
const TASK_BYTES = 1_000_000

export function createStaging(options: StagingOptions): Staging {
  return new PageStaging(options)
}

class PageStaging implements Staging {
  readonly #options: StagingOptions
  /** Pages that are not on disk yet, by the body that `readPage` returned. */
  readonly #read = new WeakMap<Buffer, Promise<StagedPage>>()
  /**
   * By offset in the checkpoint. `bytes` is compared because a record of coalesced block pages may have grown
   * since.
   */
  readonly #staged = new Map<number, { bytes: number; page: Promise<StagedPage> }>()
  /** For block jobs: number of staged records, and bytes received since the last check. */
  #stagedRecords = 0
  #newBytes = 0

  constructor(options: StagingOptions) {
    this.#options = options
    const { checkpoint, listings, from } = options
    if (checkpoint.resumed) this.#stage(pagesIn(checkpoint.records(listings), { from, to: NO_END }))
  }

  readPage = async (wallet: string, body: Buffer, limits: PageLimits): Promise<Page> => {
    const pendingPage = this.#options.pool.readPage({ wallet, body, limits })
    if (pendingPage === undefined) return source.parsePage(body, limits).page
    const page = await pendingPage.page
    this.#track(pendingPage.staged)
    this.#read.set(page.body, pendingPage.staged)
    return page
  }

  onPageStored = ({ body, offset }: { body: Buffer; offset: number }): void => {
    const { pool, listings } = this.#options
    const page = this.#read.get(body)
    if (page !== undefined) this.#staged.set(offset, { bytes: body.length, page })
    pool.expectBytes(body.length)
    if (listings.has(BLOCKS)) this.#onBlocksStored(body.length)
  }

  async finish(range: BlockRange): Promise<StagedPageLocation[]> {
    const { checkpoint, listings, pool } = this.#options
    const pages = pagesIn(checkpoint.records(listings), range)
    this.#stage(pages)
    const finished: StagedPageLocation[] = []
    for (const location of pages) {
      const staged = await this.#staged.get(location.offset)?.page
      if (staged !== undefined) finished.push({ ...location, index: staged.index })
    }
    await pool.flush()
    return finished
  }

  /**
   * Block pages are parsed in this thread and coalesced into records. A record is staged once the next one
   * has begun, because only the last record can still grow.
   */
  #onBlocksStored(bytes: number): void {
    this.#newBytes += bytes
    if (this.#newBytes < TASK_BYTES) return
    this.#newBytes = 0
    const { checkpoint, listings, from } = this.#options
    const records = checkpoint.records(listings).slice(0, -1)
    this.#stage(pagesIn(records.slice(this.#stagedRecords), { from, to: NO_END }))
    this.#stagedRecords = records.length
  }

  /** Starts staging the pages that are not staged yet. */
  #stage(pages: readonly PageLocation[]): void {
    const unstaged = pages.filter(({ offset, bytes }) => this.#staged.get(offset)?.bytes !== bytes)
    for (const task of groupIntoTasks(unstaged)) {
      const staged = this.#options.pool.run({ kind: 'stage', pages: task }, totalBytes(task))
      for (const [at, { offset, bytes }] of task.entries()) {
        const page = this.#track(staged.then((pages) => pages[at] as StagedPage))
        this.#staged.set(offset, { bytes, page })
      }
    }
  }

  #track(staged: Promise<StagedPage>): Promise<StagedPage> {
    // `finish` awaits the promise and rethrows its error. Until then, this handler prevents an unhandled
    // rejection.
    staged.then(this.#options.onStaged, () => undefined)
    return staged
  }
}

function groupIntoTasks(pages: readonly PageLocation[]): PageLocation[][] {
  const tasks: PageLocation[][] = []
  let bytes = TASK_BYTES
  for (const page of pages) {
    if (bytes >= TASK_BYTES) {
      tasks.push([])
      bytes = 0
    }
    tasks.at(-1)?.push(page)
    bytes += page.bytes
  }
  return tasks
}
