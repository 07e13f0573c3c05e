import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, REJECTS_FILE } from '../core/model/manifest.ts'
import { manifestContradictions } from '../core/model/manifest-contradictions.ts'
import { isManifest, isPathProblem, manifestProblems } from '../core/model/manifest-schema.ts'
import { diskError, readTextIfExists } from '../core/platform/disk.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { removeStaleTemporaries } from '../core/platform/temporary-file.ts'
import { TABLE_NAMES } from '../core/table/index.ts'
import { SCHEMA_VERSION } from '../core/table/schema-changes.ts'
import { extensionPattern } from '../formats/index.ts'
import { backupPath, type FinishedFile, type Store } from '../storage/store.ts'
import type { Part } from './write-table.ts'

/** A finished file of a table. */
export type PublishedPart = Omit<Part, 'staged'> & FinishedFile

export type Publication = {
  store: Store
  manifest: Manifest
  parts: readonly PublishedPart[]
  /** Lines of `rejects.ndjson`, in order. If undefined, the file is left unchanged. */
  rejects: readonly string[] | undefined
  /** Listings whose files in `raw/` belong to the export; files of other listings are removed. If undefined, none are. */
  raw?: ReadonlySet<string> | undefined
}

/**
 * Makes an export visible. Moves the parts to their final names, then writes the manifest that lists them, then removes
 * all parts that the manifest does not list, including those left by other runs. If a part would replace a file of the
 * previous manifest by different content, that manifest is first moved to its backup path, so that a manifest never lists
 * bytes that do not exist. Throws OUTPUT_FAILED, and OUTPUT_LOCKED if the store does.
 */
export async function publish(publication: Publication): Promise<void> {
  const { store, rejects, raw } = publication
  const { manifest, parts } =
    publication.manifest.job.table === 'iceberg' ? nameByContent(publication) : publication
  const listed = new Set(Object.values(manifest.tables).flatMap(({ files }) => files.map(({ path }) => path)))
  const visible = parts.filter(({ path }) => listed.has(path))
  try {
    const previous = await readManifestIfExists(store.folder)
    if (previous === undefined) await store.removeManifest()
    else await store.confirmManifest()
    if (previous !== undefined && wouldInvalidate(previous, { parts: visible, rejects }))
      await store.backUpManifest()
    await store.putFiles(visible)
    if (rejects !== undefined) await publishRejects(store, rejects)
    await store.putManifest(`${JSON.stringify(manifest, null, 2)}\n`)
    await store.removeManifestBackup()
    // Earlier snapshots of an Iceberg table list files that the manifest no longer lists.
    if (manifest.job.table !== 'iceberg') await removeOrphans(store, listed)
    await removeOrphanedRaw(join(store.folder, 'raw'), raw)
  } catch (cause) {
    throw diskError(`cannot publish the export in ${store.name}`, cause)
  }
}

/**
 * Adds a part of the hash to the names of new files: snapshots of an Iceberg table list files by name, so a name must never
 * stand for other bytes.
 */
function nameByContent({ manifest, parts }: Publication): Pick<Publication, 'manifest' | 'parts'> {
  const renamed = new Map(
    parts.map(({ path, sha256 }) => [path, path.replace(/(?=\.[a-z]+$)/, `-${sha256.slice(0, 8)}`)]),
  )
  const rename = <File extends { path: string }>(file: File) => ({
    ...file,
    path: renamed.get(file.path) ?? file.path,
  })
  const tables = Object.entries(manifest.tables).map(([name, table]) => {
    return [name, { ...table, files: table.files.map(rename) }]
  })
  return { manifest: { ...manifest, tables: Object.fromEntries(tables) }, parts: parts.map(rename) }
}

type Contents = Pick<Publication, 'parts' | 'rejects'>

/** Whether the previous manifest would list different bytes, or more rejects, than the output contains after publishing. */
function wouldInvalidate(previous: Manifest, { parts, rejects }: Contents): boolean {
  const files = Object.values(previous.tables).flatMap(({ files }) => files)
  const hashes = new Map(files.map(({ path, sha256 }) => [path, sha256]))
  const changed = parts.some(({ path, sha256 }) => (hashes.get(path) ?? sha256) !== sha256)
  return changed || previous.rejects > (rejects?.length ?? previous.rejects)
}

/** Returns the manifest that a run backed up before replacing files and did not remove, or undefined if there is none. */
export function readManifestBackup(folder: string): Promise<Manifest | undefined> {
  return readManifestAt(backupPath(folder))
}

async function publishRejects(store: Store, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) await store.remove(REJECTS_FILE)
  else await store.putText(REJECTS_FILE, `${lines.join('\n')}\n`)
}

/** Returns the manifest of an output, or undefined if the file does not exist or is not a valid manifest. */
export function readManifestIfExists(folder: string): Promise<Manifest | undefined> {
  return readManifestAt(join(folder, MANIFEST_FILE))
}

/**
 * Rejects manifests that a run must not silently replace by a new export.
 *
 * @throws VERIFY_FAILED if a path in a manifest could point outside of the output, or if its numbers contradict each other
 * @throws OUTPUT_CHANGED if a newer version wrote the manifest
 */
export async function requireSafeManifest(folder: string): Promise<void> {
  for (const path of [join(folder, MANIFEST_FILE), backupPath(folder)]) {
    const manifest = parseJson((await readTextIfExists(path)) ?? '')
    const problems = manifestProblems(manifest)
    const newer = problems.find((problem) => problem.path === 'schemaVersion')
    if (newer !== undefined) throw newerVersionError(path, newer.found)
    const contradictions = isManifest(manifest) ? manifestContradictions(manifest) : []
    const [problem] = [...problems.filter(isPathProblem), ...contradictions]
    if (problem === undefined) continue
    const found = JSON.stringify(problem.found)?.slice(0, 120)
    throw new ExportError(
      'VERIFY_FAILED',
      `${path}: ${problem.path}: expected ${problem.expected}, found ${found}`,
      {
        fix: 'Find out who has changed this manifest. A run with --fresh ignores it and exports again.',
      },
    )
  }
}

function newerVersionError(path: string, found: unknown): ExportError {
  const message = `schemaVersion ${JSON.stringify(found)?.slice(0, 20)}, and this version writes ${SCHEMA_VERSION}`
  return new ExportError(
    'OUTPUT_CHANGED',
    `${path} was written by a newer version of walletlake: ${message}`,
    {
      fix: 'Update walletlake, or give this job another output.',
    },
  )
}

async function readManifestAt(path: string): Promise<Manifest | undefined> {
  const text = await readTextIfExists(path)
  if (text === undefined) return undefined
  const manifest = parseJson(text)
  return isManifest(manifest) ? manifest : undefined
}

/** Removes unfinished raw files and those of listings that are not retained. Removes the folder if nothing is retained. */
async function removeOrphanedRaw(folder: string, retained: ReadonlySet<string> | undefined): Promise<void> {
  await removeStaleTemporaries(folder)
  for (const name of await readdir(folder).catch(() => [])) {
    const [, listing] = RAW_NAME.exec(name) ?? []
    if (listing === undefined || retained?.has(listing) !== false) continue
    await rm(join(folder, name), { force: true })
  }
  if (retained?.size === 0) await rmdir(folder).catch(() => undefined)
}

const RAW_NAME = /^(0x[\da-f]+|blocks)\.ndjson\.gz$/

/**
 * Removes parts that the manifest does not list, and returns their number. Only files whose names match the pattern of
 * part files are removed, so that files of other programs are safe.
 */
export async function removeOrphans(store: Store, listed: ReadonlySet<string>): Promise<number> {
  const found = await Promise.all(TABLE_NAMES.map((table) => store.pathsBelow(table)))
  const orphans = found.flat().filter((path) => isPart(path) && !listed.has(path))
  for (const path of orphans) await store.remove(path)
  for (const table of TABLE_NAMES) await store.removeEmptyPartitions(table)
  return orphans.length
}

/** Whether a path is that of a part file: in the folder of its table or in a partition folder below it. */
function isPart(path: string): boolean {
  const [table, ...rest] = path.split('/')
  return PART_PATH.exec(rest.join('/'))?.[1] === table
}

const PART_PATH = new RegExp(
  `^(?:(?:day|month|blocks)=[0-9-]+/)?([a-z0-9_]+)-\\d{12,}-\\d{12,}-\\d{4,}(?:-[\\da-f]{8})?\\.${extensionPattern()}$`,
)
