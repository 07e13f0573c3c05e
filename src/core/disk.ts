import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { diskFix, ExportError } from './errors.ts'

/** Makes a folder and what is missing above it. Node's own way goes on for ever below a folder that takes none (/proc). */
export async function makeFolder(path: string): Promise<void> {
  const isThere = (folder: string) =>
    stat(folder).then(
      (entry) => entry.isDirectory(),
      () => false,
    )
  const make = () =>
    mkdir(path).catch(async (cause: NodeJS.ErrnoException) => ((await isThere(path)) ? undefined : cause))
  const above = dirname(path)
  let fault = await make()
  if (fault?.code === 'ENOENT') {
    // What is above may have been made meanwhile, by another job.
    if (!(await isThere(above))) await makeFolder(above)
    fault = await make()
  }
  if (fault !== undefined) throw fault
}

/** Makes the folder that a file is to lie in. */
export const makeFolderOf = (path: string): Promise<void> => makeFolder(dirname(path))

/** Forces a folder's names to the disk: after this, a rename or removal in it survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Makes a finished file visible under its final name, all of it or none of it.
 *
 * The bytes reach the disk before the name does, and the name before this returns: a crash leaves the old file, or
 * the new one, or a stray temporary file, and never half a file. `from` must be on the same file system.
 */
export async function publishFile(from: string, to: string): Promise<void> {
  const handle = await open(from, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  await makeFolder(dirname(to))
  await rename(from, to)
  await syncFolder(dirname(to))
}

/** Where `writeAtomically` writes first; a crash may leave it behind, and the next writing of the same file takes it. */
export function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.part`)
}

/** Replaces a small file atomically; only one process at a time may write the same one. Throws OUTPUT_FAILED. */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = temporaryOf(path)
  try {
    const handle = await open(temporary, 'w')
    try {
      await handle.writeFile(text)
    } finally {
      await handle.close()
    }
    await publishFile(temporary, path)
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw diskError(`cannot write ${path}`, cause)
  }
}

/** The SHA-256 of a file's bytes, lower-case hex; however large it is, little of it is in memory. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash)
  return hash.digest('hex')
}

/** A small file's text, or undefined where there is none. */
export async function readTextIfAny(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw diskError(`cannot read ${path}`, cause)
  }
}

/** Gives a fault of the file system its code and words: what was tried, and why it failed. */
export function diskError(what: string, cause: unknown): ExportError {
  if (cause instanceof ExportError) return cause
  const { code, message } = cause as NodeJS.ErrnoException
  return new ExportError('OUTPUT_FAILED', `${what}: ${code ?? message}`, { cause, fix: diskFix(code) })
}
