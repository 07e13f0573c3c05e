import { mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { diskError, publishFile, readTextIfAny, writeAtomically } from '../disk.ts'
import { MANIFEST_FILE, type Manifest, type ManifestFile, REJECTS_FILE } from '../manifest.ts'
import type { Part } from './assemble-table.ts'
import { partitionOfPath } from './part-path.ts'

export type Publication = {
  /** The output folder. */
  folder: string
  manifest: Manifest
  parts: readonly Part[]
  /** Lines of `rejects.ndjson`, in their order; undefined: the file stays as it is. */
  rejects: readonly string[] | undefined
}

/**
 * Makes an export visible: parts under their final names, then the manifest that lists them, then what an earlier
 * manifest listed and this one does not is removed. An earlier manifest goes first where a name would change its
 * content, so that no manifest ever lists bytes that are not there. Throws OUTPUT_FAILED.
 */
export async function publish({ folder, manifest, parts, rejects }: Publication): Promise<void> {
  const earlier = await listedFiles(folder)
  const listed = new Set(Object.values(manifest.tables).flatMap(({ files }) => files.map(({ path }) => path)))
  const visible = parts.filter(({ path }) => listed.has(path))
  const changed = visible.some(({ path, sha256 }) =>
    earlier.some((file) => file.path === path && file.sha256 !== sha256),
  )
  try {
    if (changed) await rm(join(folder, MANIFEST_FILE), { force: true })
    for (const { staged, path } of visible) await publishFile(staged, join(folder, path))
    if (rejects !== undefined) await publishRejects(folder, rejects)
    await writeAtomically(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
    await removeUnlisted({ folder, earlier, listed })
  } catch (cause) {
    throw diskError(`cannot publish the export in ${folder}`, cause)
  }
}

async function publishRejects(folder: string, lines: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, REJECTS_FILE)
  if (lines.length === 0) await rm(path, { force: true })
  else await writeAtomically(path, `${lines.join('\n')}\n`)
}

async function listedFiles(folder: string): Promise<ManifestFile[]> {
  const manifest = await readManifestIfAny(folder)
  return Object.values(manifest?.tables ?? {}).flatMap(({ files }) => files)
}

/** The manifest of an output; undefined where there is none or it is not one. */
export async function readManifestIfAny(folder: string): Promise<Manifest | undefined> {
  const text = await readTextIfAny(join(folder, MANIFEST_FILE))
  if (text === undefined) return undefined
  try {
    const manifest = JSON.parse(text) as Manifest
    return manifest.manifestVersion === 1 && typeof manifest.tables === 'object' ? manifest : undefined
  } catch {
    return undefined
  }
}

type Removal = { folder: string; earlier: readonly ManifestFile[]; listed: ReadonlySet<string> }

/** Only names of our own shape are removed: a manifest edited by hand must not lead anywhere else. */
async function removeUnlisted({ folder, earlier, listed }: Removal): Promise<void> {
  for (const { path } of earlier) {
    if (OUR_PATH.test(path) && !listed.has(path)) await removePart(folder, path)
  }
}

/** Removes files of our own naming that a manifest with these tables does not list; tells how many there were. */
export async function removeStrays(folder: string, tables: Manifest['tables']): Promise<number> {
  const listed = new Set(Object.values(tables).flatMap(({ files }) => files.map(({ path }) => path)))
  let strays = 0
  for (const table of Object.keys(tables)) {
    const inside = await readdir(join(folder, table), { recursive: true })
    const paths = inside.map((name) => [table, ...name.split(sep)].join('/'))
    for (const path of paths.filter((path) => OUR_PATH.test(path) && !listed.has(path))) {
      await removePart(folder, path)
      strays += 1
    }
  }
  return strays
}

/** A partition whose last file goes goes with it. */
async function removePart(folder: string, path: string): Promise<void> {
  await rm(join(folder, path), { force: true })
  if (partitionOfPath(path) !== undefined) await rmdir(dirname(join(folder, path))).catch(() => undefined)
}

const OUR_PATH =
  /^[a-z0-9_]+\/(?:(?:day|month|blocks)=[0-9-]+\/)?[a-z0-9_]+-\d{12}-\d{12}-\d{4,}\.(csv|csv\.gz|parquet)$/
