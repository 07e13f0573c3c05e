import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, REJECTS_FILE } from '../core/model/manifest.ts'
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
  /** Lines of `rejects.ndjson`, in their order; undefined: the file stays as it is. */
  rejects: readonly string[] | undefined
  /** Listings whose files in `raw/` belong to the export, others go; undefined: all stay as they are. */
  raw?: ReadonlySet<string> | undefined
}

/**
 * Makes an export visible: parts under their final names, then the manifest that lists them, then every part that it
 * does not list is removed, whatever run left it. An earlier manifest goes first where a name would change its content,
 * so that no manifest ever lists bytes that are not there. Throws OUTPUT_FAILED, and OUTPUT_LOCKED as the store does.
 */
export async function publish({ store, manifest, parts, rejects, raw }: Publication): Promise<void> {
  const listed = new Set(Object.values(manifest.tables).flatMap(({ files }) => files.map(({ path }) => path)))
  const visible = parts.filter(({ path }) => listed.has(path))
  try {
    const previous = await readManifestIfExists(store.folder)
    if (previous === undefined) await store.removeManifest()
    else if (wouldInvalidate(previous, { parts: visible, rejects })) await store.backUpManifest()
    await store.putFiles(visible)
    if (rejects !== undefined) await publishRejects(store, rejects)
    await store.putManifest(`${JSON.stringify(manifest, null, 2)}\n`)
    await store.removeManifestBackup()
    await removeOrphans(store, listed)
    await removeOrphanedRaw(join(store.folder, 'raw'), raw)
  } catch (cause) {
    throw diskError(`cannot publish the export in ${store.name}`, cause)
  }
}

type Contents = Pick<Publication, 'parts' | 'rejects'>

/** True where an earlier manifest would list other bytes, or more rejects, than there are going to be. */
function wouldInvalidate(previous: Manifest, { parts, rejects }: Contents): boolean {
  const files = Object.values(previous.tables).flatMap(({ files }) => files)
  const hashes = new Map(files.map(({ path, sha256 }) => [path, sha256]))
  const changed = parts.some(({ path, sha256 }) => (hashes.get(path) ?? sha256) !== sha256)
  return changed || previous.rejects > (rejects?.length ?? previous.rejects)
}

/** The manifest of an export of which a run was replacing files when it was cut short; undefined where there is none. */
export function readManifestBackup(folder: string): Promise<Manifest | undefined> {
  return readManifestAt(backupPath(folder))
}

async function publishRejects(store: Store, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) await store.remove(REJECTS_FILE)
  else await store.putText(REJECTS_FILE, `${lines.join('\n')}\n`)
}

/** The manifest of an output; undefined where there is none or it is not one. */
export function readManifestIfExists(folder: string): Promise<Manifest | undefined> {
  return readManifestAt(join(folder, MANIFEST_FILE))
}

/**
 * Checks what no run may repair by exporting again.
 *
 * @throws VERIFY_FAILED where a path in a manifest could lead out of the output
 * @throws OUTPUT_CHANGED where a newer version wrote the manifest
 */
export async function requireSafeManifest(folder: string): Promise<void> {
  for (const path of [join(folder, MANIFEST_FILE), backupPath(folder)]) {
    const problems = manifestProblems(parseJson((await readTextIfExists(path)) ?? ''))
    const newer = problems.find((problem) => problem.path === 'schemaVersion')
    if (newer !== undefined) throw newerVersionError(path, newer.found)
    const [problem] = problems.filter(isPathProblem)
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

/** Removes unfinished raw files, and those of listings that the export does not keep; the folder with its last file. */
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

/** Removes unlisted parts, only names of our own shape, so that nothing else goes; tells how many there were. */
export async function removeOrphans(store: Store, listed: ReadonlySet<string>): Promise<number> {
  const found = await Promise.all(TABLE_NAMES.map((table) => store.pathsBelow(table)))
  const orphans = found.flat().filter((path) => isPart(path) && !listed.has(path))
  for (const path of orphans) await store.remove(path)
  for (const table of TABLE_NAMES) await store.removeEmptyPartitions(table)
  return orphans.length
}

/** A file of a table, by its own name or in a partition's folder. */
function isPart(path: string): boolean {
  const [table, ...rest] = path.split('/')
  return PART_PATH.exec(rest.join('/'))?.[1] === table
}

const PART_PATH = new RegExp(
  `^(?:(?:day|month|blocks)=[0-9-]+/)?([a-z0-9_]+)-\\d{12,}-\\d{12,}-\\d{4,}\\.${extensionPattern()}$`,
)
