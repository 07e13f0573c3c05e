import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { resolveInside } from '../core/model/export-path.ts'
import type { BucketLocation, Job } from '../core/model/model.ts'
import {
  diskError,
  linkUnlessExists,
  makeParentFolder,
  publishFile,
  readTextIfExists,
} from '../core/platform/disk.ts'
import { createScratchFolder } from '../core/platform/scratch-folder.ts'
import { openBucket } from './bucket.ts'

/**
 * Objects below a folder of an output, which many machines write and read concurrently. Each object becomes
 * visible as a whole or not at all, and writes are idempotent. Paths are relative, with forward slashes. All
 * methods throw OUTPUT_FAILED.
 */
export type ObjectFolder = {
  /** Reads a small object; undefined if it does not exist. */
  readText(path: string): Promise<string | undefined>
  putText(path: string, text: string): Promise<void>
  /** Writes a small object if it does not exist; resolves with true if it was written. */
  putTextIfAbsent(path: string, text: string): Promise<boolean>
  /** Writes a copy of a local file. */
  putFile(path: string, from: string): Promise<void>
  /** Path of a local file with the object's content; downloads it if necessary. */
  localPath(path: string): Promise<string>
  /** Paths that start with `start`. */
  paths(start: string): Promise<readonly string[]>
  /**
   * Removes the objects whose paths start with `start`, and unfinished uploads. End `start` with a slash to
   * remove a folder.
   * @default all
   */
  clear(start?: string): Promise<void>
  /** Closes the connection and removes local copies. */
  close(): Promise<void>
}

/** Opens the objects below a folder of a job's output, in the local folder or in the object store. */
export async function openObjectFolder(
  { output, store }: Pick<Job, 'output' | 'store'>,
  below: string,
  signal?: AbortSignal,
): Promise<ObjectFolder> {
  if (store === undefined) return localObjectFolder(join(output, below))
  const prefix = [store.prefix, below].filter((part) => part !== '').join('/')
  return bucketObjectFolder({ ...store, prefix }, signal)
}

const TEMPORARY_SUFFIX = '.unfinished'

/** Several processes may write the same object at once, so each uses its own temporary file next to it. */
export const temporaryFor = (at: string): string =>
  `${at}.${randomBytes(6).toString('hex')}${TEMPORARY_SUFFIX}`

function localObjectFolder(folder: string): ObjectFolder {
  const pathOf = (path: string) => resolveInside(folder, path)
  const put = async (path: string, write: (temporary: string) => Promise<void>) => {
    const temporary = temporaryFor(pathOf(path))
    try {
      await makeParentFolder(temporary)
      await write(temporary)
      await publishFile(temporary, pathOf(path))
    } catch (cause) {
      await rm(temporary, { force: true }).catch(() => undefined)
      throw diskError(`cannot write ${pathOf(path)}`, cause)
    }
  }
  return {
    readText: (path) => readTextIfExists(pathOf(path)),
    putText: (path, text) => put(path, (temporary) => writeFile(temporary, text, { flag: 'wx' })),
    putFile: (path, from) => put(path, (temporary) => copyFile(from, temporary, constants.COPYFILE_EXCL)),
    localPath: async (path) => pathOf(path),
    putTextIfAbsent: (path, text) => putIfAbsent(pathOf(path), text),
    paths: async (start) =>
      (await filesFrom(folder, start)).filter((path) => !path.endsWith(TEMPORARY_SUFFIX)),
    clear: async (start = '') => {
      const below = start.replace(/\/$/, '')
      // Other processes may still add files while a folder is being removed.
      const removal = { recursive: true, force: true, maxRetries: 3 }
      if (start === '') await rm(folder, removal)
      else if (start !== below) await rm(pathOf(below), removal)
      else for (const path of await filesFrom(folder, start)) await rm(pathOf(path), { force: true })
      await rmdir(folder).catch(() => undefined)
    },
    close: async () => {},
  }
}

/**
 * Writes a file if it does not exist. On file systems without hard links this is not atomic: there must be
 * only one writer.
 */
async function putIfAbsent(at: string, text: string): Promise<boolean> {
  const temporary = temporaryFor(at)
  try {
    await makeParentFolder(temporary)
    await writeFile(temporary, text)
    return await linkUnlessExists(temporary, at)
  } catch (cause) {
    throw diskError(`cannot write ${at}`, cause)
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined)
  }
}

/** Paths of the files whose paths start with `start`, including temporary ones. */
async function filesFrom(folder: string, start: string): Promise<string[]> {
  try {
    const below = join(folder, dirname(`${start}x`))
    const entries = await readdir(below, { withFileTypes: true, recursive: true })
    const files = entries.filter((entry) => entry.isFile())
    const paths = files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    return paths.map((path) => path.split(sep).join('/')).filter((path) => path.startsWith(start))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw diskError(`cannot list ${folder}`, cause)
  }
}

async function bucketObjectFolder(
  location: BucketLocation,
  signal: AbortSignal | undefined,
): Promise<ObjectFolder> {
  const bucket = await openBucket(location, { signal })
  const cacheFolder = await createScratchFolder('objects')
  const fetched = new Map<string, Promise<string>>()
  const fetch = async (path: string) => {
    if ((await bucket.fetch(path, cacheFolder)) !== undefined) return resolveInside(cacheFolder, path)
    throw new ExportError('OUTPUT_FAILED', `${bucket.name}/${path}: the file is missing`)
  }
  const paths = async (start: string) => [...(await bucket.sizes(start)).keys()]
  return {
    readText: async (path) => (await bucket.readText(path))?.text,
    putText: async (path, text) => {
      await bucket.putText(path, text)
    },
    putTextIfAbsent: async (path, text) =>
      (await bucket.putText(path, text, { ifAbsent: true })) !== undefined,
    putFile: (path, from) => bucket.putFile(path, from),
    localPath: (path) => {
      const pending = fetched.get(path)
      if (pending !== undefined) return pending
      const copy = fetch(path).catch((error) => {
        fetched.delete(path)
        throw error
      })
      fetched.set(path, copy)
      return copy
    },
    paths,
    clear: async (start = '') => {
      await bucket.remove(await paths(start))
      await bucket.abortUploads((path) => path.startsWith(start))
    },
    close: async () => {
      bucket.close()
      await rm(cacheFolder, { recursive: true, force: true })
    },
  }
}
