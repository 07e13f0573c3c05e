import type { TableName } from '../core/table/index.ts'
import type { LoadRecord, LoadTarget } from './target.ts'

type LostRowsOptions = {
  /** The output that is being loaded. */
  readonly outputId: string
  /** Tables without rows. */
  readonly emptyTables: ReadonlySet<TableName>
  readonly onNotice: (message: string) => void
}

/**
 * Deletes the records of files whose rows are gone because their table was dropped, renamed or emptied, so that the files
 * are loaded again. Returns the other records.
 */
export async function forgetLostRows(
  target: LoadTarget,
  records: readonly LoadRecord[],
  { outputId, emptyTables, onNotice }: LostRowsOptions,
): Promise<readonly LoadRecord[]> {
  const lost = new Set<string>()
  for (const name of emptyTables) {
    const loaded = records.filter((record) => record.table === name && record.rows > 0)
    if (loaded.length === 0) continue
    lost.add(name)
    onNotice(`${name}: the table is empty, so the files that were loaded into it are loaded again`)
    const others = new Set(loaded.filter((one) => one.outputId !== outputId).map(({ job }) => job))
    for (const job of others)
      onNotice(`${name}: the rows of the output ${job} are missing until it is loaded again`)
  }
  await target.deleteRecords(records.filter(({ table }) => lost.has(table)))
  return records.filter(({ table }) => !lost.has(table))
}
