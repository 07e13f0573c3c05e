import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { resolveInside } from '../core/model/export-path.ts'
import type { BucketPlace, Job } from '../core/model/model.ts'
import { diskError, makeFolder, makeFolderOf, publishFile, readTextIfAny } from '../core/platform/disk.ts'
import { makeScratch } from '../core/platform/scratch-folder.ts'
import { openBucket } from './bucket.ts'

/**
 * Objects that many machines write and read at once, below a folder of an output. Each appears whole or not at all, and what is
 * written twice is the same both times. Paths are relative, with forward slashes. Everything throws OUTPUT_FAILED.
 */
export type Objects = {
  /** The text of a small object; undefined where there is none. */
  readText(path: string): Promise<string | undefined>
  putText(path: string, text: string): Promise<void>
  /** Writes a small object unless it exists; resolves with whether it was written. */
  putTextOnce(path: string, text: string): Promise<boolean>
  /** Writes a local file, which stays. */
  putFile(path: string, from: string): Promise<void>
  /** Where this machine can read an object. */
  localPath(path: string): Promise<string>
  /** All whose paths begin so. */
  paths(start: string): Promise<readonly string[]>
  /** Removes all whose paths begin so, unfinished ones as well; a folder ends with a slash. @default all */
  clear(start?: string): Promise<void>
  /** Ends the work on them; local copies go. */
  close(): Promise<void>
}

/** Opens the objects below a folder of a job's output, which is a folder or a place in an object store. */
export async function openObjects(
  { output, store }: Pick<Job, 'output' | 'store'>,
  below: string,
): Promise<Objects> {
  if (store === undefined) return folderObjects(join(output, below))
  return bucketObjects({ ...store, prefix: [store.prefix, below].filter((part) => part !== '').join('/') })
}

const UNFINISHED = 'unfinished'

function folderObjects(folder: string): Objects {
  const at = (path: string) => resolveInside(folder, path)
  /** Several processes may write the same object at once: each under a name of its own. */
  const put = async (path: string, write: (beside: string) => Promise<void>) => {
    const beside = join(folder, UNFINISHED, `${randomBytes(6).toString('hex')}-${basename(path)}`)
    try {
      await makeFolder(join(folder, UNFINISHED))
      await write(beside)
      await publishFile(beside, at(path))
    } catch (cause) {
      await rm(beside, { force: true }).catch(() => undefined)
      throw diskError(`cannot write ${at(path)}`, cause)
    }
  }
  return {
    readText: (path) => readTextIfAny(at(path)),
    putText: (path, text) => put(path, (beside) => writeFile(beside, text, { flag: 'wx' })),
    putFile: (path, from) => put(path, (beside) => copyFile(from, beside, constants.COPYFILE_EXCL)),
    localPath: async (path) => at(path),
    putTextOnce: (path, text) => putOnce({ folder, at: at(path) }, text),
    paths: async (start) => (await filesBelow(folder, start)).filter((path) => path.startsWith(start)),
    clear: async (start = '') => {
      const below = start.replace(/\/$/, '')
      if (start === '') await rm(folder, { recursive: true, force: true })
      else if (start !== below) await rm(at(below), { recursive: true, force: true })
      else
        for (const path of await filesBelow(folder, start))
          if (path.startsWith(start)) await rm(at(path), { force: true })
      for (const left of [join(folder, UNFINISHED), folder]) await rmdir(left).catch(() => undefined)
    },
    close: async () => {},
  }
}

/** Writes a file unless there is one. A file system without hard links is trusted to have one writer of it. */
async function putOnce({ folder, at }: { folder: string; at: string }, text: string): Promise<boolean> {
  const beside = join(folder, UNFINISHED, `${randomBytes(6).toString('hex')}-${basename(at)}`)
  try {
    await makeFolderOf(beside)
    await makeFolderOf(at)
    await writeFile(beside, text)
    try {
      await link(beside, at)
      return true
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
      if ((await stat(at).catch(() => undefined)) !== undefined) return false
      await publishFile(beside, at)
      return true
    }
  } catch (cause) {
    throw diskError(`cannot write ${at}`, cause)
  } finally {
    await rm(beside, { force: true }).catch(() => undefined)
  }
}

/** The files in the folder that a path begins with. */
async function filesBelow(folder: string, start: string): Promise<string[]> {
  try {
    const below = join(folder, dirname(`${start}x`))
    const entries = await readdir(below, { withFileTypes: true, recursive: true })
    const files = entries.filter((entry) => entry.isFile())
    const paths = files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    return paths.map((path) => path.split(sep).join('/')).filter((path) => !path.startsWith(`${UNFINISHED}/`))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw diskError(`cannot list ${folder}`, cause)
  }
}

async function bucketObjects(place: BucketPlace): Promise<Objects> {
  const bucket = await openBucket(place)
  const copies = await makeScratch('objects')
  const fetched = new Map<string, Promise<string>>()
  const fetch = async (path: string) => {
    if ((await bucket.fetch(path, copies)) !== undefined) return resolveInside(copies, path)
    throw new ExportError('OUTPUT_FAILED', `${bucket.name}/${path}: it is not there`)
  }
  const paths = async (start: string) => [...(await bucket.sizes(start)).keys()]
  return {
    readText: async (path) => (await bucket.readText(path))?.text,
    putText: async (path, text) => {
      await bucket.putText(path, text)
    },
    putTextOnce: async (path, text) => (await bucket.putText(path, text, { ifAbsent: true })) !== undefined,
    putFile: (path, from) => bucket.putFile(path, from),
    localPath: (path) => {
      const known = fetched.get(path)
      if (known !== undefined) return known
      const copy = fetch(path).catch((thrown) => {
        fetched.delete(path)
        throw thrown
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
      await rm(copies, { recursive: true, force: true })
    },
  }
}
