import { join } from 'node:path'
import { type OwnDatabase, openOwnDatabase } from '../core/duckdb/own-database.ts'
import type { Manifest } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Changes } from '../core/model/run-stats.ts'
import { diskError } from '../core/platform/disk.ts'
import { openHashedFile } from '../core/platform/hashed-file.ts'
import { TABLES, type Table, type TableName } from '../core/table/index.ts'
import { compareTable } from './compare-table.ts'
import type { PublishedPart } from './publish.ts'
import { type PublishingRun, publishChanges, recoverChanges } from './publish-changes.ts'

export type ChangeListOptions = PublishingRun & {
  /** Manifest of the output before anything is replaced. */
  previousManifest: Manifest
  /** New files of the blocks in `range`, which replace the previous ones. They also contain new blocks after it. */
  parts: ReadonlyMap<TableName, readonly PublishedPart[]>
  /** Returns the local path of a new file. */
  localPath: (part: PublishedPart) => Promise<string>
  range: BlockRange
  /** Folder where the list is staged; on the file system of the output. */
  folder: string
  signal: AbortSignal
}

/**
 * Lists the rows that a run removes from or adds to blocks that were exported before, one JSON line each, ordered by
 * table, block, removed before added, and row order. The list is published before any file is replaced, so that a kill
 * cannot lose it. A resumed run writes it again under the same name. If nothing differs, nothing is written. Throws
 * OUTPUT_FAILED.
 */
export async function listChanges(options: ChangeListOptions): Promise<Changes> {
  const { folder, range, parts } = options
  const zeroes = Object.fromEntries([...parts.keys()].map((table) => [table, 0]))
  const changes: Changes = { range, removed: { ...zeroes }, added: { ...zeroes }, file: undefined }
  const staged = join(folder, 'changes.ndjson')
  try {
    await writeList(staged, { options, changes })
    const counts = [changes.removed, changes.added].flatMap((byTable) => Object.values(byTable))
    if (counts.some((count) => count > 0)) return await publishChanges(staged, { ...options, changes })
  } catch (cause) {
    options.signal.throwIfAborted()
    throw diskError('cannot list what changed', cause)
  }
  return (await recoverChanges(options)) ?? changes
}

type ChangeListing = { options: ChangeListOptions; changes: Changes }

async function writeList(path: string, { options, changes }: ChangeListing): Promise<void> {
  const list = openHashedFile(path, { gzip: false })
  let database: Promise<OwnDatabase> | undefined
  const openDatabase = () => {
    database ??= openOwnDatabase({ memory: '160MB', spillFolder: join(options.folder, 'compare.tmp') })
    return database
  }
  try {
    for (const table of TABLES) {
      for await (const { removed, added } of compareFiles(table, options, openDatabase)) {
        changes.removed[table.name] = (changes.removed[table.name] ?? 0) + removed.length
        changes.added[table.name] = (changes.added[table.name] ?? 0) + added.length
        await list.write(linesOf(table, 'removed', removed) + linesOf(table, 'added', added))
      }
    }
    await list.finish()
  } catch (thrown) {
    await list.abort()
    throw thrown
  } finally {
    await (await database)?.close()
  }
}

function linesOf({ name }: Table, change: 'removed' | 'added', rows: readonly string[]): string {
  return rows.map((row) => `{"table":"${name}","change":"${change}","row":${row}}\n`).join('')
}

/**
 * Compares the files of a table. Files that are byte-identical on both sides are skipped. All rows of a table that the
 * previous export lacks are added.
 */
async function* compareFiles(
  table: Table,
  { previousManifest, store, parts, localPath, range, folder, signal }: ChangeListOptions,
  openDatabase: () => Promise<OwnDatabase>,
) {
  const listed =
    previousManifest.tables[table.name]?.files.filter(({ toBlock }) => toBlock > range.from) ?? []
  const newParts = parts.get(table.name) ?? []
  if (newParts.length === 0) return
  const previousFiles = withoutIdentical(listed, newParts).map(({ path }) => join(store.folder, path))
  const newFiles = await Promise.all(withoutIdentical(newParts, listed).map(localPath))
  if (previousFiles.length + newFiles.length === 0) return
  yield* compareTable({
    range,
    folder,
    signal,
    connection: (await openDatabase()).connection,
    table,
    format: previousManifest.job.format,
    before: previousFiles,
    after: newFiles,
  })
}

/** Multiset difference by content: drops one file for each file of `others` with the same hash. */
function withoutIdentical<F extends { sha256: string }>(
  files: readonly F[],
  others: readonly { sha256: string }[],
): F[] {
  const unmatched = others.map(({ sha256 }) => sha256)
  return files.filter(({ sha256 }) => {
    const at = unmatched.indexOf(sha256)
    if (at >= 0) unmatched.splice(at, 1)
    return at < 0
  })
}
