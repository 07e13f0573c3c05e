import { toExportError } from '../../core/model/errors.ts'
import type { PartitionBy } from '../../core/model/model.ts'
import { checkPage, type Page, type PageLimits, parsePage } from '../../sources/data-api/pages/page.ts'
import { createFlatten, type RowContext } from '../flatten-views.ts'
import { old, type PagePlace } from '../merge/page-source.ts'
import { itemsOf, itemsOfPage, type PageItems } from '../merge/record-items.ts'
import { openPlaces } from '../open-page-reader.ts'
import { openStageFiles, type StageFormat } from '../staged/stage-files.ts'
import { type StagedPage, stagePage } from '../staged/stage-page.ts'
import { type Slice, type SliceRows, writeSlice } from '../write-batch.ts'

/** What all tasks of a job have in common; plain values, so that a thread can be given it. */
export type WriteContext = RowContext &
  StageFormat & {
    /** Rows of blocks before this one are there already. */
    from: number
    /** Items younger than this, in milliseconds since 1970, are left out. */
    cutMs: number
    /** undefined: no partitions. */
    partitionBy?: PartitionBy | undefined
    /** The checkpoint with the pages. */
    pagesFile: string
  }

/** A piece of the writing that stands for itself: plain values in, plain values out, files on disk. */
export type WriteTask =
  | { kind: 'stage'; places: readonly PagePlace[] }
  | { kind: 'slice'; slice: Slice }
  /** Lines that wait reach their files: other threads may read them then. */
  | { kind: 'flush' }

export type WriteResult<T extends WriteTask> = T extends { kind: 'slice' }
  ? SliceRows
  : T extends { kind: 'stage' }
    ? readonly StagedPage[]
    : undefined

/** The body of a wallet's page that has just come, and what was asked. */
export type PageTask = { wallet: string; body: Buffer; limits: PageLimits }

/** What does one task after the other. */
export type WriteTasks = {
  /** Throws an error that has its code. */
  run<T extends WriteTask>(task: T): WriteResult<T>
  /** Reads a page as `readPage` does, and gives what then makes its rows. */
  read(task: PageTask): { page: Page; stage: () => StagedPage }
  /** Closes the files that rows are staged in; the next task opens them again. */
  close(): void
}

/** What does tasks in this thread. */
export function openWriteTasks(context: WriteContext): WriteTasks {
  const files = openStageFiles(context)
  const flatten = createFlatten(context)
  const pages = openPlaces(context)
  const stage = ({ items, entries }: PageItems) => {
    const wanted = old(items, context.cutMs).filter(({ key }) => key.block >= context.from)
    return stagePage({ items: wanted, entries }, files, flatten)
  }
  const stageStored = (place: PagePlace) =>
    stage(itemsOfPage({ wallet: place.wallet, body: pages.read(place), chain: context.chain }))
  const act = (task: WriteTask) => {
    if (task.kind === 'stage') return task.places.map(stageStored)
    if (task.kind === 'slice') return writeSlice(task.slice, { ...context, files, flatten, pages })
    return files.flush()
  }
  const coded = <T>(make: () => T): T => {
    try {
      return make()
    } catch (thrown) {
      throw toExportError(thrown)
    }
  }
  return {
    run: <T extends WriteTask>(task: T) => coded(() => act(task)) as WriteResult<T>,
    read: ({ wallet, body, limits }) => {
      const parsed = parsePage(body, limits)
      const { listed, keys } = parsed
      const page = checkPage(parsed, limits)
      return {
        page,
        stage: () => coded(() => stage({ items: itemsOf({ wallet, listed, keys }), entries: listed.length })),
      }
    },
    close: () => {
      files.close()
      pages.close()
    },
  }
}
