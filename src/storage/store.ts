import { constants } from 'node:fs'
import { chmod, copyFile, link, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { resolveInside } from '../core/model/export-path.ts'
import { MANIFEST_FILE, type ManifestFile, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import {
  makeFolder,
  makePrivateFolder,
  PRIVATE_MODE,
  publishFile,
  syncFolder,
  writeAtomically,
} from '../core/platform/disk.ts'
import { requireLock } from '../core/platform/lock/lock.ts'
import { isTemporary, removeStaleTemporaries, temporaryPathFor } from '../core/platform/temporary-file.ts'

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
  ensureLocal(files: readonly ManifestFile[]): Promise<void>
  /** Makes finished files visible, each all of it or nothing. */
  putFiles(files: readonly FinishedFile[]): Promise<void>
  putText(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  /** Paths of the files below a folder. */
  pathsBelow(folder: string): Promise<readonly string[]>
  /** Removes partitions of a table that have no files any more, and temporary files of killed processes. */
  removeEmptyPartitions(table: string): Promise<void>
  /** Makes the manifest visible: from now on what it lists is the export. */
  putManifest(text: string): Promise<void>
  removeManifest(): Promise<void>
  /** Lists nothing any more; what was listed is kept for a run that is cut short, and goes on from there. */
  backUpManifest(): Promise<void>
  removeManifestBackup(): Promise<void>
  /** Ends the work on it; what was brought goes. */
  close(): Promise<void>
}

/**
 * A finished file, and what it will be called: it lies on this machine, and goes from there (`staged`), or below the place
 * itself, and stays (`kept`, a path relative to the place).
 */
export type FinishedFile = { path: string } & (
  | { staged: string; copyFrom?: undefined }
  | { copyFrom: string; bytes: number; staged?: undefined }
)

/** The manifest of an export whose files are being replaced. */
export const BACKUP_PATH = `${PRIVATE_FOLDER}/replaced.json`

/** Where that lies in an output's folder. */
export const backupPath = (folder: string): string => join(folder, BACKUP_PATH)

/** A folder: readers see it as it is. */
export function folderStore(folder: string): Store {
  const pathOf = (path: string) => resolveInside(folder, path)
  /** A process that was suspended may wake up in an output that another one has taken over. */
  const requireOwnLock = () => requireLock(join(folder, PRIVATE_FOLDER))
  return {
    name: folder,
    folder,
    size: async (path) => (await stat(pathOf(path)).catch(() => undefined))?.size,
    ensureLocal: async () => {},
    putFiles: async (files) => {
      await requireOwnLock()
      for (const { staged, copyFrom, path } of files)
        await publishFile(staged ?? (await linkOrCopy(pathOf(copyFrom), pathOf(path))), pathOf(path))
    },
    putText: async (path, text) => {
      await requireOwnLock()
      await makeFolder(folder)
      await writeAtomically(pathOf(path), text)
    },
    remove: async (path) => {
      await requireOwnLock()
      await rm(pathOf(path), { force: true })
    },
    pathsBelow: (below) => pathsBelow(folder, below),
    removeEmptyPartitions: async (table) => {
      const temporaries = (await pathsBelow(folder, table)).filter((path) => isTemporary(basename(path)))
      for (const below of new Set(temporaries.map((path) => dirname(path))))
        await removeStaleTemporaries(join(folder, below))
      for (const name of await readdir(pathOf(table)).catch(() => []))
        if (PARTITION_NAME.test(name)) await rmdir(join(pathOf(table), name)).catch(() => undefined)
    },
    ...folderManifest(folder, requireOwnLock),
    close: async () => {},
  }
}

type ManifestStore = Pick<Store, 'putManifest' | 'removeManifest' | 'backUpManifest' | 'removeManifestBackup'>

function folderManifest(folder: string, requireOwnLock: () => Promise<void>): ManifestStore {
  const path = join(folder, MANIFEST_FILE)
  return {
    putManifest: async (text) => {
      await requireOwnLock()
      await writeAtomically(path, text)
    },
    removeManifest: async () => {
      await requireOwnLock()
      await makeFolder(folder)
      await rm(path, { force: true })
      await syncFolder(folder)
    },
    backUpManifest: async () => {
      await requireOwnLock()
      await makePrivateFolder(join(folder, PRIVATE_FOLDER))
      await rename(path, backupPath(folder))
      await chmod(backupPath(folder), PRIVATE_MODE).catch(() => undefined)
      await syncFolder(join(folder, PRIVATE_FOLDER))
      await syncFolder(folder)
    },
    removeManifestBackup: () => rm(backupPath(folder), { force: true }),
  }
}

/**
 * Makes a file appear under a second name, a temporary one beside its later name; where the file system has no hard links, it is
 * copied. Resolves with the name.
 */
async function linkOrCopy(from: string, to: string): Promise<string> {
  await makeFolder(dirname(to))
  const name = await temporaryPathFor(to)
  await link(from, name).catch(() => copyFile(from, name, constants.COPYFILE_EXCL))
  return name
}

const PARTITION_NAME = /^(?:day|month|blocks)=[0-9-]+$/

async function pathsBelow(folder: string, below: string): Promise<string[]> {
  const options = { withFileTypes: true, recursive: true } as const
  const entries = await readdir(join(folder, below), options).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
}
