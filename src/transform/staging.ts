import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { BLOCKS, type Listings } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import type { Page, PageLimits } from '../sources/data-api/pages/page.ts'
import { readPage } from '../sources/data-api/pages/page.ts'
import { pagesIn, totalBytes } from './batches.ts'
import type { PageLocation } from './merge/page-source.ts'
import type { StagedPage } from './staged/stage-page.ts'
import type { StagedPageLocation } from './staged/staged-source.ts'
import type { WritePool } from './threads/pool.ts'

export type StagingOptions = {
  checkpoint: Pick<Checkpoint, 'records' | 'resumed'>
  /** What the run reads. */
  listings: Listings
  /** Rows of blocks before this one are there already. */
  from: number
  pool: WritePool
  /** Called as the rows of a page are made. */
  onStaged: (page: StagedPage) => void
}

/**
 * Has the rows of every page made: of most by the thread that reads the page as it arrives, of all others (those of earlier
 * processes and runs, of blocks, and where there was no thread) from the checkpoint.
 */
export type Staging = {
  /** Reads a page of a wallet's listing, as `readPage` of the client does. */
  readPage(wallet: string, body: Buffer, limits: PageLimits): Promise<Page>
  /** A page is on disk: its body as it was read, and where that lies. */
  onPageStored(page: { body: Buffer; offset: number }): void
  /** All pages that may hold items of these blocks, their rows made and in their files, in the order of receipt. */
  finish(range: BlockRange): Promise<StagedPageLocation[]>
}

/** Pages that are staged in one task, in bytes: a page that arrives meanwhile waits for it. */
const TASK_BYTES = 1_000_000

export function createStaging(options: StagingOptions): Staging {
  return new PageStaging(options)
}

class PageStaging implements Staging {
  readonly #options: StagingOptions
  /** By the body that was read: it is the page's own until that is on disk. */
  readonly #read = new WeakMap<Buffer, Promise<StagedPage>>()
  /** By where the page lies in the checkpoint; a stretch of blocks may have grown since. */
  readonly #staged = new Map<number, { bytes: number; page: Promise<StagedPage> }>()
  /** Of blocks: frames that are staged, and bytes that have come since. */
  #frames = 0
  #bytes = 0

  constructor(options: StagingOptions) {
    this.#options = options
    const { checkpoint, listings, from } = options
    if (checkpoint.resumed) this.#stage(pagesIn(checkpoint.records(listings), { from, to: NO_END }))
  }

  readPage = async (wallet: string, body: Buffer, limits: PageLimits): Promise<Page> => {
    const pendingPage = this.#options.pool.readPage({ wallet, body, limits })
    if (pendingPage === undefined) return readPage(body, limits)
    const page = await pendingPage.page
    this.#keep(pendingPage.staged)
    this.#read.set(page.body, pendingPage.staged)
    return page
  }

  onPageStored = ({ body, offset }: { body: Buffer; offset: number }): void => {
    const { pool, listings } = this.#options
    const page = this.#read.get(body)
    if (page !== undefined) this.#staged.set(offset, { bytes: body.length, page })
    pool.expectBytes(body.length)
    if (listings.has(BLOCKS)) this.#blocksArrived(body.length)
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

  /** Blocks are read here, and many lie together: a stretch of them is staged once the next has begun. */
  #blocksArrived(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < TASK_BYTES) return
    this.#bytes = 0
    const { checkpoint, listings, from } = this.#options
    const records = checkpoint.records(listings).slice(0, -1)
    this.#stage(pagesIn(records.slice(this.#frames), { from, to: NO_END }))
    this.#frames = records.length
  }

  /** Has the rows made of pages that have none. */
  #stage(pages: readonly PageLocation[]): void {
    const unstaged = pages.filter(({ offset, bytes }) => this.#staged.get(offset)?.bytes !== bytes)
    for (const task of groupIntoTasks(unstaged)) {
      const staged = this.#options.pool.run({ kind: 'stage', pages: task }, totalBytes(task))
      for (const [at, { offset, bytes }] of task.entries()) {
        const page = this.#keep(staged.then((pages) => pages[at] as StagedPage))
        this.#staged.set(offset, { bytes, page })
      }
    }
  }

  #keep(staged: Promise<StagedPage>): Promise<StagedPage> {
    // It is awaited in finish; a failure before that is no unhandled one.
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
