import { constants } from 'node:fs'
import { chmod, copyFile, link, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { resolveInside } from '../core/model/export-path.ts'
import { MANIFEST_FILE, type ManifestFile, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import {
  createFile,
  diskError,
  makeFolder,
  makeParentFolder,
  makePrivateFolder,
  PRIVATE_MODE,
  publishFile,
  syncFolder,
  writeAtomically,
} from '../core/platform/disk.ts'
import { requireLock } from '../core/platform/lock/lock.ts'
import { isTemporary, removeStaleTemporaries, temporaryPathFor } from '../core/platform/temporary-file.ts'

/**
 * The location to which an export is published. Paths are relative to it, with forward slashes. All methods
 * throw OUTPUT_FAILED; methods that change it also throw OUTPUT_LOCKED if another run has taken it over.
 */
export type Store = {
  /** Name of the location in messages. */
  readonly name: string
  /** Local folder for private and staged files, the manifest and the rejects. */
  readonly folder: string
  /** Size of a file in bytes; undefined if it does not exist. */
  size(path: string): Promise<number | undefined>
  /** Reads a small file. */
  read(path: string): Promise<Buffer>
  /** Ensures that these files can be read in `folder`. */
  ensureLocal(files: readonly ManifestFile[]): Promise<void>
  /** Publishes finished files, each atomically. */
  putFiles(files: readonly FinishedFile[]): Promise<void>
  putText(path: string, text: string): Promise<void>
  /** Publishes a small file unless there is one with its name; resolves with false if there is. */
  create(path: string, content: Uint8Array): Promise<boolean>
  remove(path: string): Promise<void>
  /** Paths of the files below a folder, at any depth. */
  pathsBelow(folder: string): Promise<readonly string[]>
  /** Removes empty partition folders of a table, and temporary files of ended processes. */
  removeEmptyPartitions(table: string): Promise<void>
  /**
   * Throws OUTPUT_LOCKED unless the manifest of the store is the one in `folder`. What another manifest lists must
   * not be removed or replaced.
   */
  confirmManifest(): Promise<void>
  /** Publishes the manifest: from now on the export consists of the files that it lists. */
  putManifest(text: string): Promise<void>
  removeManifest(): Promise<void>
  /**
   * Unpublishes the manifest and keeps it as a backup, from which the next run continues if this one is
   * interrupted.
   */
  backUpManifest(): Promise<void>
  removeManifestBackup(): Promise<void>
  /** Releases the location and removes downloaded files. */
  close(): Promise<void>
}

/**
 * A finished file and its final path. It is either a local file that is moved (`staged`), or an already
 * published file that is copied (`copyFrom`, a path relative to the location).
 */
export type FinishedFile = { path: string } & (
  | { staged: string; copyFrom?: undefined }
  | { copyFrom: string; bytes: number; staged?: undefined }
)

/** Backup of the manifest while the files of the export are being replaced. */
export const BACKUP_PATH = `${PRIVATE_FOLDER}/replaced.json`

/** Path of the backup in an output folder. */
export const backupPath = (folder: string): string => join(folder, BACKUP_PATH)

/** A local folder, which readers access directly. */
export function folderStore(folder: string): Store {
  const pathOf = (path: string) => resolveInside(folder, path)
  /** A process that was suspended may continue in an output that another process has taken over. */
  const requireOwnLock = () => requireLock(join(folder, PRIVATE_FOLDER))
  return {
    name: folder,
    folder,
    size: async (path) => (await stat(pathOf(path)).catch(() => undefined))?.size,
    read: (path) =>
      readFile(pathOf(path)).catch((cause: unknown) => {
        throw diskError(`cannot read ${pathOf(path)}`, cause)
      }),
    ensureLocal: async () => {},
    putFiles: async (files) => {
      await requireOwnLock()
      for (const { staged, copyFrom, path } of files)
        await publishFile(staged ?? (await linkOrCopy(pathOf(copyFrom), pathOf(path))), pathOf(path))
    },
    putText: async (path, text) => {
      await requireOwnLock()
      await makeParentFolder(pathOf(path))
      await writeAtomically(pathOf(path), text)
    },
    create: async (path, content) => {
      await requireOwnLock()
      return createFile(pathOf(path), content)
    },
    remove: async (path) => {
      await requireOwnLock()
      await rm(pathOf(path), { force: true })
    },
    pathsBelow: (below) => pathsBelow(folder, below),
    removeEmptyPartitions: async (table) => {
      await requireOwnLock()
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

type ManifestStore = Pick<
  Store,
  'confirmManifest' | 'putManifest' | 'removeManifest' | 'backUpManifest' | 'removeManifestBackup'
>

function folderManifest(folder: string, requireOwnLock: () => Promise<void>): ManifestStore {
  const path = join(folder, MANIFEST_FILE)
  return {
    // Reads of a folder are never stale.
    confirmManifest: requireOwnLock,
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
    removeManifestBackup: async () => {
      await requireOwnLock()
      await rm(backupPath(folder), { force: true })
    },
  }
}

/**
 * Creates a temporary hard link next to the file's new path, or a copy on file systems without hard links.
 * Resolves with the path of the link.
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
