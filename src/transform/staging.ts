import type { Spool } from '../checkpoint/checkpoint.ts'
import { BLOCKS, type Listings } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import type { Page, PageLimits } from '../sources/data-api/pages/page.ts'
import { readPage } from '../sources/data-api/pages/page.ts'
import { bytesOf, placesIn } from './batches.ts'
import type { PagePlace } from './merge/page-source.ts'
import type { StagedPage } from './staged/stage-page.ts'
import type { StagedPlace } from './staged/staged-source.ts'
import type { WritePool } from './threads/pool.ts'

export type StagingOptions = {
  spool: Pick<Spool, 'frames' | 'resumed'>
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
  pageArrived(page: { body: Buffer; offset: number }): void
  /** All pages that may hold items of these blocks, their rows made and in their files, in the order of receipt. */
  finish(range: BlockRange): Promise<StagedPlace[]>
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
    const { spool, listings, from } = options
    if (spool.resumed) this.#stage(placesIn(spool.frames(listings), { from, to: NO_END }))
  }

  readPage = async (wallet: string, body: Buffer, limits: PageLimits): Promise<Page> => {
    const reading = this.#options.pool.readPage({ wallet, body, limits })
    if (reading === undefined) return readPage(body, limits)
    const page = await reading.page
    this.#keep(reading.staged)
    this.#read.set(page.body, reading.staged)
    return page
  }

  pageArrived = ({ body, offset }: { body: Buffer; offset: number }): void => {
    const { pool, listings } = this.#options
    const page = this.#read.get(body)
    if (page !== undefined) this.#staged.set(offset, { bytes: body.length, page })
    pool.expect(body.length)
    if (listings.has(BLOCKS)) this.#blocksArrived(body.length)
  }

  async finish(range: BlockRange): Promise<StagedPlace[]> {
    const { spool, listings, pool } = this.#options
    const places = placesIn(spool.frames(listings), range)
    this.#stage(places)
    const finished: StagedPlace[] = []
    for (const place of places) {
      const staged = await this.#staged.get(place.offset)?.page
      if (staged !== undefined) finished.push({ ...place, index: staged.index })
    }
    await pool.flush()
    return finished
  }

  /** Blocks are read here, and many lie together: a stretch of them is staged once the next has begun. */
  #blocksArrived(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < TASK_BYTES) return
    this.#bytes = 0
    const { spool, listings, from } = this.#options
    const frames = spool.frames(listings).slice(0, -1)
    this.#stage(placesIn(frames.slice(this.#frames), { from, to: NO_END }))
    this.#frames = frames.length
  }

  /** Has the rows made of pages that have none. */
  #stage(places: readonly PagePlace[]): void {
    const left = places.filter(({ offset, bytes }) => this.#staged.get(offset)?.bytes !== bytes)
    for (const task of inTasks(left)) {
      const staged = this.#options.pool.run({ kind: 'stage', places: task }, bytesOf(task))
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

function inTasks(places: readonly PagePlace[]): PagePlace[][] {
  const tasks: PagePlace[][] = []
  let bytes = TASK_BYTES
  for (const place of places) {
    if (bytes >= TASK_BYTES) {
      tasks.push([])
      bytes = 0
    }
    tasks.at(-1)?.push(place)
    bytes += place.bytes
  }
  return tasks
}
