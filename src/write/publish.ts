import { readdir, rename, rm, rmdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import {
  diskError,
  makeFolder,
  publishFile,
  readTextIfAny,
  syncFolder,
  temporaryOf,
  writeAtomically,
} from '../core/disk.ts'
import { MANIFEST_FILE, type Manifest, PRIVATE_FOLDER, REJECTS_FILE } from '../core/manifest.ts'
import { isManifest } from '../core/manifest-schema.ts'
import { TABLE_NAMES } from '../core/table/index.ts'
import type { Part } from './assemble-table.ts'

export type Publication = {
  /** The output folder. */
  folder: string
  manifest: Manifest
  parts: readonly Part[]
  /** Lines of `rejects.ndjson`, in their order; undefined: the file stays as it is. */
  rejects: readonly string[] | undefined
  /** Listings whose files in `raw/` belong to the export, others go; undefined: all stay as they are. */
  raw?: ReadonlySet<string> | undefined
}

/**
 * Makes an export visible: parts under their final names, then the manifest that lists them, then every part that it
 * does not list is removed, whatever run left it. An earlier manifest goes first where a name would change its content,
 * so that no manifest ever lists bytes that are not there. Throws OUTPUT_FAILED.
 */
export async function publish({ folder, manifest, parts, rejects, raw }: Publication): Promise<void> {
  const listed = new Set(Object.values(manifest.tables).flatMap(({ files }) => files.map(({ path }) => path)))
  const visible = parts.filter(({ path }) => listed.has(path))
  try {
    const earlier = await readManifestIfAny(folder)
    if (earlier === undefined) await removeManifest(folder)
    else if (breaksPromise(earlier, { parts: visible, rejects })) await setManifestAside(folder)
    for (const { staged, path } of visible) await publishFile(staged, join(folder, path))
    if (rejects !== undefined) await publishRejects(folder, rejects)
    await writeAtomically(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
    await forgetManifestSetAside(folder)
    await removeStrays(folder, listed)
    await removeStrayRaw(join(folder, 'raw'), raw)
  } catch (cause) {
    throw diskError(`cannot publish the export in ${folder}`, cause)
  }
}

type Contents = Pick<Publication, 'parts' | 'rejects'>

/** True where an earlier manifest would list other bytes, or more rejects, than there are going to be. */
function breaksPromise(earlier: Manifest, { parts, rejects }: Contents): boolean {
  const files = Object.values(earlier.tables).flatMap(({ files }) => files)
  const hashes = new Map(files.map(({ path, sha256 }) => [path, sha256]))
  const changed = parts.some(({ path, sha256 }) => (hashes.get(path) ?? sha256) !== sha256)
  return changed || earlier.rejects > (rejects?.length ?? earlier.rejects)
}

/** Nothing lists the files any more; what was listed is kept for a run that is cut short, and goes on from there. */
async function setManifestAside(folder: string): Promise<void> {
  await makeFolder(join(folder, PRIVATE_FOLDER))
  await rename(join(folder, MANIFEST_FILE), setAside(folder))
  await syncFolder(join(folder, PRIVATE_FOLDER))
  await syncFolder(folder)
}

async function removeManifest(folder: string): Promise<void> {
  await makeFolder(folder)
  await rm(join(folder, MANIFEST_FILE), { force: true })
  await syncFolder(folder)
}

const setAside = (folder: string) => join(folder, PRIVATE_FOLDER, 'replaced.json')

/** The manifest of an export of which a run was replacing files when it was cut short; undefined where there is none. */
export function readManifestSetAside(folder: string): Promise<Manifest | undefined> {
  return readManifestAt(setAside(folder))
}

/** Forgets an export that was being replaced. */
export async function forgetManifestSetAside(folder: string): Promise<void> {
  await rm(setAside(folder), { force: true })
}

async function publishRejects(folder: string, lines: readonly string[]): Promise<void> {
  await makeFolder(folder)
  const path = join(folder, REJECTS_FILE)
  if (lines.length === 0) for (const left of [temporaryOf(path), path]) await rm(left, { force: true })
  else await writeAtomically(path, `${lines.join('\n')}\n`)
}

/** The manifest of an output; undefined where there is none or it is not one. */
export function readManifestIfAny(folder: string): Promise<Manifest | undefined> {
  return readManifestAt(join(folder, MANIFEST_FILE))
}

async function readManifestAt(path: string): Promise<Manifest | undefined> {
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  try {
    const manifest: unknown = JSON.parse(text)
    return isManifest(manifest) ? manifest : undefined
  } catch {
    return undefined
  }
}

/** Removes unfinished raw files, and those of listings that the export does not keep; the folder with its last file. */
async function removeStrayRaw(folder: string, kept: ReadonlySet<string> | undefined): Promise<void> {
  for (const name of await filesUnder(folder)) {
    const [, listing, unfinished] = RAW_NAME.exec(name) ?? []
    if (listing === undefined || (unfinished === undefined && kept?.has(listing) !== false)) continue
    await rm(join(folder, name), { force: true })
  }
  if (kept?.size === 0) await rmdir(folder).catch(() => undefined)
}

const RAW_NAME = /^(0x[\da-f]+|blocks)\.ndjson\.gz(\.part)?$/

/** Removes unlisted parts, only names of our own shape, so that nothing else goes; tells how many there were. */
export async function removeStrays(folder: string, listed: ReadonlySet<string>): Promise<number> {
  let strays = 0
  for (const table of TABLE_NAMES) {
    for (const name of await filesUnder(join(folder, table))) {
      const isPart = OUR_NAME.exec(name)?.[1] === table
      if (!isPart || listed.has(`${table}/${name}`)) continue
      await rm(join(folder, table, name), { force: true })
      strays += 1
    }
    await removeEmptyPartitions(join(folder, table))
  }
  return strays
}

/** A partition goes with its last file, whoever removed that. */
async function removeEmptyPartitions(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    if (OUR_PARTITION.test(name)) await rmdir(join(folder, name)).catch(() => undefined)
}

/** Files of a folder and of those in it, relative to it, with forward slashes. */
async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
}

const OUR_PARTITION = /^(?:day|month|blocks)=[0-9-]+$/
const OUR_NAME =
  /^(?:(?:day|month|blocks)=[0-9-]+\/)?([a-z0-9_]+)-\d{12,}-\d{12,}-\d{4,}\.(?:csv|csv\.gz|parquet)$/
