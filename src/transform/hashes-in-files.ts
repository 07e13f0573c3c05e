import type { Manifest, ManifestFile } from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import { type TableName, tableByName } from '../core/table/index.ts'
import { textColumns } from '../formats/column-sql.ts'
import { openDataFile, sourceSql } from '../formats/index.ts'
import { openScratchDatabase, type ScratchDatabase } from '../read/scratch-database.ts'
import type { Store } from '../storage/store.ts'

export type ExportedFiles = {
  store: Store
  manifest: Manifest
  format: Job['format']
  /** Half-open. */
  range: BlockRange
}

/**
 * Yields the hashes of the exported transactions in these blocks, in batches. A hash can occur more than
 * once.
 */
export async function* hashesInFiles({
  store,
  manifest,
  format,
  range,
}: ExportedFiles): AsyncGenerator<string[]> {
  const files = tablesToRead(tablesOf(manifest)).flatMap((table) =>
    (manifest.tables[table]?.files ?? [])
      .filter((file) => file.rows > 0 && file.fromBlock < range.to && file.toBlock > range.from)
      .map((file) => ({ table, file })),
  )
  if (files.length === 0) return
  await store.ensureLocal(files.map(({ file }) => file))
  const rows = await openScratchDatabase(store.folder)
  try {
    for (const { table, file } of files) yield* hashesIn(rows, { table, file, format, range })
  } finally {
    await rows.close()
  }
}

const tablesOf = ({ tables }: Manifest) =>
  (Object.keys(tables) as TableName[]).filter((name) => tables[name] !== undefined)

/**
 * Returns tables that together contain every transaction: `transactions` or `wallet_transactions` if
 * exported, else all.
 */
export function tablesToRead(names: readonly TableName[]): readonly TableName[] {
  const complete = (['transactions', 'wallet_transactions'] as const).find((name) => names.includes(name))
  return complete === undefined ? names : [complete]
}

type FileScan = { table: TableName; file: ManifestFile; format: Job['format']; range: BlockRange }

async function* hashesIn(
  rows: ScratchDatabase,
  { table, file, format, range }: FileScan,
): AsyncGenerator<string[]> {
  const opened = await openDataFile(`${rows.folder}/${file.path}`, format, rows.scratchFolder)
  try {
    const block = 'CAST(block_number AS BIGINT)'
    const source = `FROM ${sourceSql(opened, textColumns(tableByName(table).columns))}
      WHERE ${block} >= ${range.from} AND ${block} < ${range.to}`
    for await (const batch of rows.stream(['transaction_hash'], source))
      yield batch.map(([hash]) => hash ?? '')
  } finally {
    await opened.close()
  }
}
