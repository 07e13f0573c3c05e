import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError, publishFile, readTextIfAny, writeAtomically } from '../disk.ts'
import type { Changes } from '../figures.ts'
import { CHANGES_FOLDER, MANIFEST_FILE, type Manifest, PRIVATE_FOLDER } from '../manifest.ts'
import type { BlockRange } from '../model.ts'
import { TABLES, type Table, type TableName } from '../table/index.ts'
import type { Part } from './assemble-table.ts'
import { compareTable } from './compare-table.ts'
import { openHashedFile } from './part-file.ts'

/** A run in its output. */
export type RunPlace = {
  output: string
  /** What a run and its resumes have in common, and no other run. */
  run: number
}

export type Rewriting = RunPlace & {
  /** What the output holds, before any of it is replaced. */
  before: Manifest
  /** The files that replace those of these blocks, staged; blocks after them are new. */
  parts: ReadonlyMap<TableName, readonly Part[]>
  range: BlockRange
  /** Where the list is staged; on the file system of the output. */
  folder: string
  signal: AbortSignal
}

/**
 * Lists the rows that a run removes from blocks exported before and those that it adds there, one JSON line each, by table,
 * block, removed before added, and row order. The list is in place when this resolves: what replaces the files comes
 * after it, so that no kill loses it. A run that is resumed writes it again, under the same name. Nothing is written
 * where nothing differs. Throws OUTPUT_FAILED.
 */
export async function listChanges(rewriting: Rewriting): Promise<Changes> {
  const { folder, range, parts } = rewriting
  const none = Object.fromEntries([...parts.keys()].map((table) => [table, 0]))
  const changes: Changes = { range, removed: { ...none }, added: { ...none }, file: undefined }
  const staged = join(folder, 'changes.ndjson')
  try {
    await writeList(staged, { rewriting, changes })
    const isEmpty = [changes.removed, changes.added].every((counts) =>
      Object.values(counts).every((n) => n === 0),
    )
    if (!isEmpty) return await publishList(staged, { rewriting, changes })
  } catch (cause) {
    rewriting.signal.throwIfAborted()
    throw diskError('cannot list what changed', cause)
  }
  return (await recallChanges(rewriting)) ?? changes
}

/** What this very run has listed before it was cut short; undefined where it has not. */
export async function recallChanges({ output, run }: RunPlace): Promise<Changes | undefined> {
  const noted = await readNote(output)
  return noted?.run === run ? noted.changes : undefined
}

type Listing = { rewriting: Rewriting; changes: Changes }

async function writeList(path: string, { rewriting, changes }: Listing): Promise<void> {
  const list = openHashedFile(path, { gzip: false })
  try {
    for (const table of TABLES) {
      for await (const { removed, added } of compareFiles(table, rewriting)) {
        for (const [change, rows] of [
          ['removed', removed],
          ['added', added],
        ] as const) {
          if (rows.length === 0) continue
          changes[change][table.name] = (changes[change][table.name] ?? 0) + rows.length
          const start = `{"table":"${table.name}","change":"${change}","row":`
          await list.write(rows.map((row) => `${start}${row}}\n`).join(''))
        }
      }
    }
    await list.finish()
  } catch (thrown) {
    await list.abandon()
    throw thrown
  }
}

/** Compares a table's files; those that were there before, to the byte, need no look. */
async function* compareFiles(table: Table, { before, output, parts, ...rest }: Rewriting) {
  const { range } = rest
  const listed = before.tables[table.name]?.files.filter(({ toBlock }) => toBlock > range.from) ?? []
  const made = parts.get(table.name) ?? []
  if (before.tables[table.name] === undefined || made.length === 0) return
  const old = withoutSame(listed, made).map(({ path }) => join(output, path))
  const fresh = withoutSame(made, listed).map(({ staged }) => staged)
  if (old.length + fresh.length === 0) return
  yield* compareTable({ ...rest, table, format: before.job.format, before: old, after: fresh })
}

/** The files but those with the content of another, each as often as it is there. */
function withoutSame<F extends { sha256: string }>(
  files: readonly F[],
  others: readonly { sha256: string }[],
): F[] {
  const left = others.map(({ sha256 }) => sha256)
  return files.filter(({ sha256 }) => {
    const at = left.indexOf(sha256)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/** Names the list by its number among all of the output: lists in the order of their names are the history. */
async function publishList(staged: string, { rewriting, changes }: Listing): Promise<Changes> {
  const { output, run, range } = rewriting
  const noted = await readNote(output)
  const manifest = createHash('sha256')
    .update((await readTextIfAny(join(output, MANIFEST_FILE))) ?? '')
    .digest('hex')
  // The run was cut short before it replaced anything: what it has listed then counts no more.
  const superseded = noted?.run === run && noted.manifest === manifest ? noted : undefined
  const number = superseded?.number ?? Math.max(noted?.number ?? 0, await lastNumber(output)) + 1
  const listed = { ...changes, file: listPath(number, range) }
  const note: Note = { run, manifest, number, changes: listed }
  await writeAtomically(join(output, PRIVATE_FOLDER, NOTE_FILE), `${JSON.stringify(note)}\n`)
  await publishFile(staged, join(output, listed.file))
  const stale = superseded?.changes.file
  if (stale !== undefined && stale !== listed.file) await rm(join(output, stale), { force: true })
  return listed
}

function listPath(number: number, { from, to }: BlockRange): string {
  const [first, last] = [from, to].map((block) => String(block).padStart(12, '0'))
  return `${CHANGES_FOLDER}/${String(number).padStart(6, '0')}-${first}-${last}.ndjson`
}

async function lastNumber(output: string): Promise<number> {
  const names = await readdir(join(output, CHANGES_FOLDER)).catch(() => [])
  return names.reduce((last, name) => Math.max(last, Number(LIST_NAME.exec(name)?.[1] ?? 0)), 0)
}

const LIST_NAME = /^(\d{6,})-\d{12,}-\d{12,}\.ndjson$/

/** The newest list: whose it is, and the SHA-256 of the manifest that the run was to replace. */
type Note = RunNumber & { manifest: string; number: number; changes: Changes }
type RunNumber = Pick<RunPlace, 'run'>

const NOTE_FILE = 'changes.json'

async function readNote(output: string): Promise<Note | undefined> {
  const text = await readTextIfAny(join(output, PRIVATE_FOLDER, NOTE_FILE))
  if (text === undefined) return undefined
  try {
    const note = JSON.parse(text) as Partial<Note> | null
    return Number.isInteger(note?.number) && typeof note?.changes?.file === 'string'
      ? (note as Note)
      : undefined
  } catch {
    return undefined
  }
}
