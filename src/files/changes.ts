import { createHash } from 'node:crypto'
import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type OwnDatabase, openOwnDatabase } from '../core/duckdb/own-database.ts'
import { CHANGES_FOLDER, MANIFEST_FILE, type Manifest, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Changes } from '../core/model/run-stats.ts'
import {
  diskError,
  PRIVATE_MODE,
  readTextIfExists,
  syncFolder,
  writeAtomically,
} from '../core/platform/disk.ts'
import { largest } from '../core/platform/extremes.ts'
import { openHashedFile } from '../core/platform/hashed-file.ts'
import { TABLES, type Table, type TableName } from '../core/table/index.ts'
import type { Store } from '../storage/store.ts'
import { compareTable } from './compare-table.ts'
import type { PublishedPart } from './publish.ts'

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
  } catch (error) {
    await list.abort()
    throw error
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

/** A run and the store that it publishes to. */
export type PublishingRun = {
  store: ListStore
  /** Identifies the run. A resumed run has the same value. */
  run: number
}

type ListStore = Pick<Store, 'folder' | 'putFiles' | 'remove' | 'pathsBelow'>
type PublishChangesOptions = PublishingRun & { changes: Changes }

/**
 * Publishes a change list and records which run wrote it. Lists are numbered consecutively within an output, so that
 * their names sort chronologically. The number of a list whose changes were never published is reused by the next one.
 */
export async function publishChanges(
  staged: string,
  { store, run, changes }: PublishChangesOptions,
): Promise<Changes> {
  const last = await readState(store.folder)
  const manifest = await hashManifest(store.folder)
  // If the manifest is still the same, the run of the last list was interrupted before it published: its list is obsolete.
  const superseded = last?.manifest === manifest ? last : undefined
  const number = superseded?.number ?? Math.max(last?.number ?? 0, await lastNumber(store)) + 1
  const listed: ListedChanges = { ...changes, file: listPath(number, changes.range) }
  const state: ChangeListState = { run, manifest, number, changes: listed }
  const statePath = join(store.folder, PRIVATE_FOLDER, STATE_FILE)
  await writeAtomically(statePath, `${JSON.stringify(state)}\n`, PRIVATE_MODE)
  await store.putFiles([{ path: listed.file, staged }])
  const stale = superseded?.changes.file ?? listed.file
  if (stale !== listed.file) await store.remove(stale)
  return listed
}

/**
 * Returns the changes that this run had listed before it was interrupted, or undefined if it had not. Removes the last list
 * if its changes were never published because its run was interrupted before it replaced the manifest.
 */
export async function recoverChanges({ store, run }: PublishingRun): Promise<Changes | undefined> {
  const last = await readState(store.folder)
  if (last === undefined) return undefined
  if (last.manifest !== (await hashManifest(store.folder))) return last.run === run ? last.changes : undefined
  await removeList(store, last)
  return undefined
}

/** Removes the recorded state of the newest list, but not the published lists, before an export starts from scratch. */
export async function discardChanges(store: ListStore): Promise<void> {
  await recoverChanges({ store, run: Number.NaN })
  await rm(join(store.folder, PRIVATE_FOLDER, STATE_FILE), { force: true })
}

async function removeList(store: ListStore, { changes }: ChangeListState): Promise<void> {
  const folder = join(store.folder, CHANGES_FOLDER)
  await store.remove(changes.file)
  await rmdir(folder).catch(() => syncFolder(folder).catch(() => undefined))
  await rm(join(store.folder, PRIVATE_FOLDER, STATE_FILE), { force: true })
}

async function hashManifest(output: string): Promise<string> {
  const text = await readTextIfExists(join(output, MANIFEST_FILE))
  return createHash('sha256')
    .update(text ?? '')
    .digest('hex')
}

function listPath(number: number, { from, to }: BlockRange): string {
  const [first, last] = [from, to].map((block) => String(block).padStart(12, '0'))
  return `${CHANGES_FOLDER}/${String(number).padStart(6, '0')}-${first}-${last}.ndjson`
}

async function lastNumber(store: ListStore): Promise<number> {
  const paths = await store.pathsBelow(CHANGES_FOLDER)
  const numbers = paths.map((path) => Number(LIST_PATH.exec(path)?.[1] ?? 0))
  return largest(numbers, 0)
}

const LIST_PATH = new RegExp(`^${CHANGES_FOLDER}/(\\d{6,})-\\d{12,}-\\d{12,}\\.ndjson$`)

/** The newest list: its run, and the SHA-256 of the manifest that the run was about to replace. */
type ChangeListState = { run: number; manifest: string; number: number; changes: ListedChanges }
type ListedChanges = Changes & { file: string }

const STATE_FILE = 'changes.json'

async function readState(output: string): Promise<ChangeListState | undefined> {
  const text = await readTextIfExists(join(output, PRIVATE_FOLDER, STATE_FILE))
  if (text === undefined) return undefined
  try {
    const state = JSON.parse(text) as Partial<ChangeListState> | null
    return LIST_PATH.test(state?.changes?.file ?? '') ? (state as ChangeListState) : undefined
  } catch {
    return undefined
  }
}
