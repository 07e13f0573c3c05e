import { copyFile, link, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { makeFolder, publishFile, syncFolder, temporaryOf, writeAtomically } from '../core/disk.ts'
import { MANIFEST_FILE, type ManifestFile, PRIVATE_FOLDER } from '../core/manifest.ts'

/**
 * Where an export is published: what readers see of it. Paths are relative to it, with forward slashes. Everything throws
 * OUTPUT_FAILED; what changes it throws OUTPUT_LOCKED where another run has taken it meanwhile.
 */
export type Store = {
  /** As users name it. */
  readonly name: string
  /** A folder of this machine, for what is private and staged; the manifest and the rejects lie there too. */
  readonly folder: string
  /** Bytes of a file; undefined where there is none. */
  size(path: string): Promise<number | undefined>
  /** Makes sure that these files can be read in the folder. */
  bring(files: readonly ManifestFile[]): Promise<void>
  /** Makes finished files visible, each all of it or nothing. */
  putFiles(files: readonly Finished[]): Promise<void>
  putText(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  /** Paths of the files below a folder. */
  pathsBelow(folder: string): Promise<readonly string[]>
  /** Removes partitions of a table that have no files any more. */
  removeEmptyPartitions(table: string): Promise<void>
  /** Makes the manifest visible: from now on what it lists is the export. */
  putManifest(text: string): Promise<void>
  removeManifest(): Promise<void>
  /** Lists nothing any more; what was listed is kept for a run that is cut short, and goes on from there. */
  setManifestAside(): Promise<void>
  forgetManifestSetAside(): Promise<void>
  /** Ends the work on it; what was brought goes. */
  close(): Promise<void>
}

/**
 * A finished file, and what it will be called: it lies on this machine, and goes from there (`staged`), or below the place
 * itself, and stays (`kept`, a path relative to the place).
 */
export type Finished = { path: string } & (
  | { staged: string; kept?: undefined }
  | { kept: string; bytes: number; staged?: undefined }
)

/** The manifest of an export whose files are being replaced. */
export const SET_ASIDE = `${PRIVATE_FOLDER}/replaced.json`

/** Where that lies in an output's folder. */
export const setAside = (folder: string): string => join(folder, SET_ASIDE)

/** A folder: readers see it as it is. */
export function folderStore(folder: string): Store {
  const at = (path: string) => join(folder, path)
  return {
    name: folder,
    folder,
    size: async (path) => (await stat(at(path)).catch(() => undefined))?.size,
    bring: async () => {},
    putFiles: async (files) => {
      for (const { staged, kept, path } of files)
        await publishFile(staged ?? (await secondName(at(kept), temporaryOf(at(path)))), at(path))
    },
    putText: async (path, text) => {
      await makeFolder(folder)
      await writeAtomically(at(path), text)
    },
    remove: async (path) => {
      for (const left of [temporaryOf(at(path)), at(path)]) await rm(left, { force: true })
    },
    pathsBelow: (below) => pathsBelow(folder, below),
    removeEmptyPartitions: async (table) => {
      for (const name of await readdir(at(table)).catch(() => []))
        if (OUR_PARTITION.test(name)) await rmdir(join(at(table), name)).catch(() => undefined)
    },
    putManifest: (text) => writeAtomically(at(MANIFEST_FILE), text),
    removeManifest: async () => {
      await makeFolder(folder)
      await rm(at(MANIFEST_FILE), { force: true })
      await syncFolder(folder)
    },
    setManifestAside: async () => {
      await makeFolder(at(PRIVATE_FOLDER))
      await rename(at(MANIFEST_FILE), setAside(folder))
      await syncFolder(at(PRIVATE_FOLDER))
      await syncFolder(folder)
    },
    forgetManifestSetAside: () => rm(setAside(folder), { force: true }),
    close: async () => {},
  }
}

/** Makes a file appear under a second name; where the file system has no links, it is copied. Resolves with the name. */
async function secondName(from: string, to: string): Promise<string> {
  await makeFolder(dirname(to))
  await rm(to, { force: true })
  await link(from, to).catch(() => copyFile(from, to))
  return to
}

const OUR_PARTITION = /^(?:day|month|blocks)=[0-9-]+$/

async function pathsBelow(folder: string, below: string): Promise<string[]> {
  const options = { withFileTypes: true, recursive: true } as const
  const entries = await readdir(join(folder, below), options).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
}
