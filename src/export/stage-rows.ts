import { setImmediate } from 'node:timers/promises'
import type { BlockRange } from '../core/model/model.ts'
import type { FeeResolver } from '../transform/fee-resolver.ts'
import type { PageLocation } from '../transform/merge/page-source.ts'
import { iterateOpenFees } from '../transform/open-fees.ts'
import type { StagedPageLocation } from '../transform/staged/staged-source.ts'
import type { TaskRunner } from '../transform/threads/task.ts'

export type StageRowsOptions = {
  tasks: TaskRunner
  fees: FeeResolver
  /** Folder of the staging files. */
  folder: string
  range: BlockRange
}

/** Stages the rows of all pages in this thread; those that depend on fees again once these are known. */
export async function stageRows(
  pages: readonly PageLocation[],
  { tasks, fees, folder, range }: StageRowsOptions,
): Promise<StagedPageLocation[]> {
  tasks.run({ kind: 'fees', fees: fees.current() })
  const staged = await stagePages(tasks, pages)
  const open = staged.filter(({ openFees }) => openFees > 0)
  const known = await fees.resolve(() => iterateOpenFees(open, { folder, range }))
  tasks.run({ kind: 'fees', fees: known })
  if (known.from === 'listing' || open.length === 0) return staged
  const again = new Map((await stagePages(tasks, open)).map((page) => [page.offset, page]))
  return staged.map((page) => again.get(page.offset) ?? page)
}

/** Stages the rows of all pages and yields to the event loop after each page. */
async function stagePages(
  tasks: TaskRunner,
  pages: readonly PageLocation[],
): Promise<(StagedPageLocation & { openFees: number })[]> {
  const staged: (StagedPageLocation & { openFees: number })[] = []
  for (const page of pages) {
    const pages = tasks.run({ kind: 'stage', pages: [page] })
    for (const { index, openFees } of pages) staged.push({ ...page, index, openFees })
    await setImmediate()
  }
  return staged
}
