import { createHash } from 'node:crypto'
import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CHANGES_FOLDER, MANIFEST_FILE, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Changes } from '../core/model/run-stats.ts'
import { PRIVATE_MODE, readTextIfExists, syncFolder, writeAtomically } from '../core/platform/disk.ts'
import { largest } from '../core/platform/extremes.ts'
import type { Store } from '../storage/store.ts'

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
