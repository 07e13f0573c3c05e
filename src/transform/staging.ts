import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { BLOCKS, type Listings } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import type { PageReader, Source } from '../sources/source.ts'
import { pagesIn, totalBytes } from './batches.ts'
import type { FeeResolver, FeeSource } from './fees.ts'
import type { PageLocation } from './merge/page-items.ts'
import { iterateOpenFees } from './open-fees.ts'
import type { StagedPageLocation } from './staged/read-staged.ts'
import type { StagedPage } from './staged/stage-page.ts'
import type { WritePool } from './threads/pool.ts'

export type StagingOptions = {
  checkpoint: Pick<Checkpoint, 'records' | 'resumed'>
  /** The listings that the run reads. */
  listings: Listings
  /** Blocks before this one are exported already. */
  from: number
  pool: WritePool
  source: Source
  fees: FeeResolver
  /** Folder of the staging files. */
  folder: string
  /** Called when the rows of a page are staged. */
  onStaged: (page: StagedPage) => void
}

/**
 * Stages the rows of every page. Most pages are staged on arrival by the thread that parses them. Pages of
 * earlier processes and runs, block pages, and pages that arrived while no thread was available are staged
 * from the checkpoint.
 */
export type Staging = {
  /** Opens a reader of pages of a wallet's listing, which reads them in a thread if there is one. */
  openPageReader(wallet: string): Required<PageReader>
  /**
   * Must be called after a page was appended to the checkpoint, with the body that the reader returned and
   * its offset.
   */
  onPageStored(page: { body: Buffer; offset: number }): void
  /**
   * Resolves with all pages that may contain items of these blocks, in the order in which they were received,
   * once their rows are staged and flushed to files.
   */
  finish(range: BlockRange): Promise<StagedPageLocation[]>
}

type StagedRecord = {
  bytes: number
  page: Promise<StagedPage>
  /** The prices that its rows were built with. */
  fees: FeeSource
}

type OpenPageLocation = StagedPageLocation & Pick<StagedPage, 'openFees'>

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
  /** Pages that are not on disk yet, by the body that the reader returned. */
  readonly #read = new WeakMap<Buffer, Pick<StagedRecord, 'page' | 'fees'>>()
  /**
   * By offset in the checkpoint. `bytes` is compared because a record of coalesced block pages may have grown
   * since.
   */
  readonly #staged = new Map<number, StagedRecord>()
  /** The prices that pages are staged with. */
  #fees: FeeSource
  /** For block jobs: number of staged records, and bytes received since the last check. */
  #stagedRecords = 0
  #newBytes = 0

  constructor(options: StagingOptions) {
    this.#options = options
    const { checkpoint, listings, from, fees } = options
    this.#fees = fees.current()
    if (checkpoint.resumed) this.#stage(pagesIn(checkpoint.records(listings), { from, to: NO_END }))
  }

  openPageReader = (wallet: string): Required<PageReader> => {
    const { pool, source } = this.#options
    const { readAnswer: readAnswerHere = notComposed } = source
    // Identifies the reader: one thread parses its answers, and composes its pages of them.
    const reader = {}
    return {
      read: async (body, limits) => {
        this.#setFees(this.#options.fees.current())
        // Other pages may set new prices before the thread has read this one.
        const fees = this.#fees
        const pendingPage = pool.readPage({ wallet, body, limits }, reader)
        if (pendingPage === undefined) return source.parsePage(body, limits).page
        const page = await pendingPage.page
        const staged = this.#track(pendingPage.staged)
        this.#read.set(page.body, { page: staged, fees })
        return page
      },
      readAnswer: (body) => {
        pool.expectBytes(body.length)
        return pool.readAnswer(body, reader) ?? readAnswerHere(body)
      },
    }
  }

  onPageStored = ({ body, offset }: { body: Buffer; offset: number }): void => {
    const { pool, listings, source } = this.#options
    const page = this.#read.get(body)
    if (page !== undefined) this.#staged.set(offset, { bytes: body.length, ...page })
    if (source.readAnswer === undefined) pool.expectBytes(body.length)
    if (listings.has(BLOCKS)) this.#onBlocksStored(body.length)
  }

  async finish(range: BlockRange): Promise<StagedPageLocation[]> {
    const { checkpoint, listings, pool, fees, folder } = this.#options
    const pages = pagesIn(checkpoint.records(listings), range)
    this.#stage(pages)
    let finished = await this.#locate(pages)
    const open = finished.filter(({ openFees }) => openFees > 0)
    this.#setFees(await fees.resolve(() => iterateOpenFees(open, { folder, range })))
    const outdated = open.filter(({ offset }) => this.#staged.get(offset)?.fees !== this.#fees)
    // With the listed prices, rows stay as they are.
    if (outdated.length > 0 && this.#fees.from !== 'listing') {
      this.#stageAgain(outdated)
      finished = await this.#locate(pages)
    }
    await pool.flush()
    return finished
  }

  async #locate(pages: readonly PageLocation[]): Promise<OpenPageLocation[]> {
    const located: OpenPageLocation[] = []
    for (const location of pages) {
      const staged = await this.#staged.get(location.offset)?.page
      if (staged !== undefined) located.push({ ...location, index: staged.index, openFees: staged.openFees })
    }
    return located
  }

  #setFees(fees: FeeSource): void {
    if (fees === this.#fees) return
    this.#fees = fees
    this.#options.pool.setFees(fees)
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
    for (const record of this.#runTasks(unstaged)) this.#track(record.page)
  }

  /** Stages the rows of pages again with the current prices. The progress already counts them. */
  #stageAgain(pages: readonly PageLocation[]): void {
    for (const { page } of this.#runTasks(pages)) page.catch(() => undefined)
  }

  #runTasks(pages: readonly PageLocation[]): StagedRecord[] {
    return groupIntoTasks(pages).flatMap((task) => {
      const staged = this.#options.pool.run({ kind: 'stage', pages: task }, totalBytes(task))
      return task.map(({ offset, bytes }, at) => {
        const page = staged.then((pages) => pages[at] as StagedPage)
        const record = { bytes, page, fees: this.#fees }
        this.#staged.set(offset, record)
        return record
      })
    })
  }

  #onStaged = (page: StagedPage): void => {
    const { onStaged, fees } = this.#options
    onStaged(page)
    if (page.firstOpenFee !== undefined) fees.offer(page.firstOpenFee)
  }

  #track(staged: Promise<StagedPage>): Promise<StagedPage> {
    // `finish` awaits the promise and rethrows its error. Until then, this handler prevents an unhandled
    // rejection.
    staged.then(this.#onStaged, () => undefined)
    return staged
  }
}

function notComposed(): never {
  throw new TypeError('pages of this source are not composed of answers')
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
