import { toExportError } from '../../core/model/errors.ts'
import type { PartitionBy } from '../../core/model/model.ts'
import { checkPage, type Page, type PageLimits, parsePage } from '../../sources/data-api/pages/page.ts'
import { createFlattener, type RowContext } from '../flatten-views.ts'
import { olderThanCutoff, type PageLocation } from '../merge/page-source.ts'
import { itemsOf, itemsOfPage, type PageItems } from '../merge/record-items.ts'
import { openPageReader } from '../open-page-reader.ts'
import { openStageFiles, type StageFormat } from '../staged/stage-files.ts'
import { type StagedPage, stagePage } from '../staged/stage-page.ts'
import { type BatchRows, type BlockRangeBatch, writeBatch } from '../write-batch.ts'

/** What all tasks of a job have in common; plain values, so that a thread can be given it. */
export type WriteContext = RowContext &
  StageFormat & {
    /** Rows of blocks before this one are there already. */
    from: number
    /** Items younger than this, in milliseconds since 1970, are left out. */
    cutoffMs: number
    /** undefined: no partitions. */
    partitionBy?: PartitionBy | undefined
    /** The checkpoint with the pages. */
    pagesFile: string
  }

/** A piece of the writing that stands for itself: plain values in, plain values out, files on disk. */
export type WriteTask =
  | { kind: 'stage'; pages: readonly PageLocation[] }
  | { kind: 'batch'; batch: BlockRangeBatch }
  /** Lines that wait reach their files: other threads may read them then. */
  | { kind: 'flush' }

export type WriteResult<T extends WriteTask> = T extends { kind: 'batch' }
  ? BatchRows
  : T extends { kind: 'stage' }
    ? readonly StagedPage[]
    : undefined

/** The body of a wallet's page that has just come, and what was asked. */
export type PageTask = { wallet: string; body: Buffer; limits: PageLimits }

/** What does one task after the other. */
export type TaskRunner = {
  /** Throws an error that has its code. */
  run<T extends WriteTask>(task: T): WriteResult<T>
  /** Reads a page as `readPage` does, and gives what then makes its rows. */
  read(task: PageTask): { page: Page; stage: () => StagedPage }
  /** Closes the files that rows are staged in; the next task opens them again. */
  close(): void
}

/** What does tasks in this thread. */
export function openTaskRunner(context: WriteContext): TaskRunner {
  const files = openStageFiles(context)
  const flatten = createFlattener(context)
  const pageReader = openPageReader(context)
  const stage = ({ items, entries }: PageItems) => {
    const included = olderThanCutoff(items, context.cutoffMs).filter(({ key }) => key.block >= context.from)
    return stagePage({ items: included, entries }, files, flatten)
  }
  const stageStored = (location: PageLocation) =>
    stage(itemsOfPage({ wallet: location.wallet, body: pageReader.read(location), chain: context.chain }))
  const runTask = (task: WriteTask) => {
    if (task.kind === 'stage') return task.pages.map(stageStored)
    if (task.kind === 'batch') return writeBatch(task.batch, { ...context, files, flatten, pageReader })
    return files.flush()
  }
  const withExportError = <T>(make: () => T): T => {
    try {
      return make()
    } catch (thrown) {
      throw toExportError(thrown)
    }
  }
  return {
    run: <T extends WriteTask>(task: T) => withExportError(() => runTask(task)) as WriteResult<T>,
    read: ({ wallet, body, limits }) => {
      const parsed = parsePage(body, limits)
      const { entries, keys } = parsed
      const page = checkPage(parsed, limits)
      return {
        page,
        stage: () =>
          withExportError(() =>
            stage({ items: itemsOf({ wallet, listed: entries, keys }), entries: entries.length }),
          ),
      }
    },
    close: () => {
      files.close()
      pageReader.close()
    },
  }
}
