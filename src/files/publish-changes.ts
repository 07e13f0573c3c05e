import { createHash } from 'node:crypto'
import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CHANGES_FOLDER, MANIFEST_FILE, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Changes } from '../core/model/run-stats.ts'
import { PRIVATE_MODE, readTextIfAny, syncFolder, writeAtomically } from '../core/platform/disk.ts'
import { largest } from '../core/platform/extremes.ts'
import type { Store } from '../storage/store.ts'

/** A run in the place that it publishes to. */
export type RunPlace = {
  store: ListStore
  /** What a run and its resumes have in common, and no other run. */
  run: number
}

type ListStore = Pick<Store, 'folder' | 'putFiles' | 'remove' | 'pathsBelow'>
type Publishing = RunPlace & { changes: Changes }

/**
 * Puts a list in its place and notes whose it is. Its name has its number among all of the output, so that lists in the
 * order of their names are the history; a list that never came true gives its number to the next.
 */
export async function publishChanges(staged: string, { store, run, changes }: Publishing): Promise<Changes> {
  const noted = await readNote(store.folder)
  const manifest = await hashManifest(store.folder)
  // Where nothing was replaced since, a run was cut short: what it has listed counts no more.
  const superseded = noted?.manifest === manifest ? noted : undefined
  const number = superseded?.number ?? Math.max(noted?.number ?? 0, await lastNumber(store)) + 1
  const listed: Listed = { ...changes, file: listPath(number, changes.range) }
  const note: Note = { run, manifest, number, changes: listed }
  const notes = join(store.folder, PRIVATE_FOLDER, NOTE_FILE)
  await writeAtomically(notes, `${JSON.stringify(note)}\n`, PRIVATE_MODE)
  await store.putFiles([{ path: listed.file, staged }])
  const stale = superseded?.changes.file ?? listed.file
  if (stale !== listed.file) await store.remove(stale)
  return listed
}

/**
 * What this very run has listed before it was cut short; undefined where it has not. A list of a run that was cut short
 * before it replaced anything, and that did not go on, is removed: it never came true.
 */
export async function recallChanges({ store, run }: RunPlace): Promise<Changes | undefined> {
  const noted = await readNote(store.folder)
  if (noted === undefined) return undefined
  if (noted.manifest !== (await hashManifest(store.folder)))
    return noted.run === run ? noted.changes : undefined
  await removeList(store, noted)
  return undefined
}

/** Leaves no memory of lists but the lists themselves, so that an export can begin anew. */
export async function forgetChanges(store: ListStore): Promise<void> {
  await recallChanges({ store, run: Number.NaN })
  await rm(join(store.folder, PRIVATE_FOLDER, NOTE_FILE), { force: true })
}

async function removeList(store: ListStore, { changes }: Note): Promise<void> {
  const folder = join(store.folder, CHANGES_FOLDER)
  await store.remove(changes.file)
  await rmdir(folder).catch(() => syncFolder(folder).catch(() => undefined))
  await rm(join(store.folder, PRIVATE_FOLDER, NOTE_FILE), { force: true })
}

async function hashManifest(output: string): Promise<string> {
  const text = await readTextIfAny(join(output, MANIFEST_FILE))
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

/** The newest list: whose it is, and the SHA-256 of the manifest that the run was to replace. */
type Note = { run: number; manifest: string; number: number; changes: Listed }
type Listed = Changes & { file: string }

const NOTE_FILE = 'changes.json'

async function readNote(output: string): Promise<Note | undefined> {
  const text = await readTextIfAny(join(output, PRIVATE_FOLDER, NOTE_FILE))
  if (text === undefined) return undefined
  try {
    const note = JSON.parse(text) as Partial<Note> | null
    return LIST_PATH.test(note?.changes?.file ?? '') ? (note as Note) : undefined
  } catch {
    return undefined
  }
}
