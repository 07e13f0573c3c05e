import { createHash } from 'node:crypto'
import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { publishFile, readTextIfAny, syncFolder, writeAtomically } from '../core/disk.ts'
import type { Changes } from '../core/figures.ts'
import { CHANGES_FOLDER, MANIFEST_FILE, PRIVATE_FOLDER } from '../core/manifest.ts'
import type { BlockRange } from '../core/model.ts'

/** A run in its output. */
export type RunPlace = {
  output: string
  /** What a run and its resumes have in common, and no other run. */
  run: number
}

type Publishing = RunPlace & { changes: Changes }

/**
 * Puts a list in its place and notes whose it is. Its name has its number among all of the output, so that lists in the
 * order of their names are the history; a list that never came true gives its number to the next.
 */
export async function publishChanges(staged: string, { output, run, changes }: Publishing): Promise<Changes> {
  const noted = await readNote(output)
  const manifest = await hashManifest(output)
  // Where nothing was replaced since, a run was cut short: what it has listed counts no more.
  const superseded = noted?.manifest === manifest ? noted : undefined
  const number = superseded?.number ?? Math.max(noted?.number ?? 0, await lastNumber(output)) + 1
  const listed: Listed = { ...changes, file: listPath(number, changes.range) }
  const note: Note = { run, manifest, number, changes: listed }
  await writeAtomically(join(output, PRIVATE_FOLDER, NOTE_FILE), `${JSON.stringify(note)}\n`)
  await publishFile(staged, join(output, listed.file))
  const stale = superseded?.changes.file ?? listed.file
  if (stale !== listed.file) await rm(join(output, stale), { force: true })
  return listed
}

/**
 * What this very run has listed before it was cut short; undefined where it has not. A list of a run that was cut short
 * before it replaced anything, and that did not go on, is removed: it never came true.
 */
export async function recallChanges({ output, run }: RunPlace): Promise<Changes | undefined> {
  const noted = await readNote(output)
  if (noted === undefined) return undefined
  if (noted.manifest !== (await hashManifest(output))) return noted.run === run ? noted.changes : undefined
  await removeList(output, noted)
  return undefined
}

/** Leaves no memory of lists but the lists themselves, so that an export can begin anew. */
export async function forgetChanges(output: string): Promise<void> {
  await recallChanges({ output, run: Number.NaN })
  await rm(join(output, PRIVATE_FOLDER, NOTE_FILE), { force: true })
}

async function removeList(output: string, { changes }: Note): Promise<void> {
  const folder = join(output, CHANGES_FOLDER)
  await rm(join(output, changes.file), { force: true })
  await rmdir(folder).catch(() => syncFolder(folder).catch(() => undefined))
  await rm(join(output, PRIVATE_FOLDER, NOTE_FILE), { force: true })
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

async function lastNumber(output: string): Promise<number> {
  const names = await readdir(join(output, CHANGES_FOLDER)).catch(() => [])
  const numbers = names.map((name) => Number(LIST_PATH.exec(`${CHANGES_FOLDER}/${name}`)?.[1] ?? 0))
  return Math.max(0, ...numbers)
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
