import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { chmod, type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { diskFix, ExportError } from '../model/errors.ts'
import { createTemporary, removeStaleTemporaries } from './temporary-file.ts'

/** Makes a folder and what is missing above it. Node's own way goes on for ever below a folder that takes none (/proc). */
export async function makeFolder(path: string): Promise<void> {
  const isFolder = (folder: string) =>
    stat(folder).then(
      (entry) => entry.isDirectory(),
      () => false,
    )
  const make = () =>
    mkdir(path).catch(async (cause: NodeJS.ErrnoException) => ((await isFolder(path)) ? undefined : cause))
  const parent = dirname(path)
  let error = await make()
  if (error?.code === 'ENOENT') {
    // What is above may have been made meanwhile, by another job.
    if (!(await isFolder(parent))) await makeFolder(parent)
    error = await make()
  }
  if (error !== undefined) throw error
}

/** Makes the folder that a file is to lie in. */
export const makeParentFolder = (path: string): Promise<void> => makeFolder(dirname(path))

/** Makes a folder that only its owner may enter, and what is missing above it. */
export async function makePrivateFolder(path: string): Promise<void> {
  await makeFolder(path)
  const { mode } = await stat(path)
  if ((mode & 0o077) !== 0) await chmod(path, 0o700).catch(ignoreUnsupported)
}

/** File systems without permissions (exFAT, SMB), and folders of another user, stay as they are. */
function ignoreUnsupported(cause: NodeJS.ErrnoException): void {
  if (!UNSUPPORTED.has(cause.code ?? '')) throw cause
}

/** How file systems say that they have no such operation. */
const UNSUPPORTED = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EPERM'])

/**
 * Forces a folder's names to the disk: after this, a rename or removal in it survives a power cut. File systems that cannot
 * do so for folders (SMB, some FUSE mounts) keep names safe by themselves, or not at all.
 */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync().catch(ignoreUnsupported)
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

/**
 * Replaces a small file atomically, and removes what killed processes have left beside it. `mode` is subject to the umask.
 * Throws OUTPUT_FAILED.
 */
export async function writeAtomically(path: string, text: string, mode?: number): Promise<void> {
  let temporary: string | undefined
  try {
    await removeStaleTemporaries(dirname(path))
    const { path: temporaryPath, handle } = await createTemporary(path, mode)
    temporary = temporaryPath
    try {
      await handle.writeFile(text)
    } finally {
      await handle.close()
    }
    await publishFile(temporary, path)
  } catch (cause) {
    if (temporary !== undefined) await rm(temporary, { force: true }).catch(() => undefined)
    throw diskError(`cannot write ${path}`, cause)
  }
}

/** Permissions of files that are private to an output. */
export const PRIVATE_MODE = 0o600

/** The SHA-256 of a file's bytes, lower-case hex; however large it is, little of it is in memory. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash)
  return hash.digest('hex')
}

/**
 * A small file's text, or undefined where there is none. A symbolic link is not followed, and a pipe is not waited for.
 * Throws OUTPUT_FAILED.
 */
export async function readTextIfExists(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      await requireRegularFile(handle, path)
      return await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw diskError(`cannot read ${path}`, cause)
  }
}

/** Throws OUTPUT_FAILED where an open file is a pipe, a socket or a device. */
export async function requireRegularFile(handle: FileHandle, path: string): Promise<void> {
  const entry = await handle.stat()
  // What a folder is, reading it says.
  if (entry.isFile() || entry.isDirectory()) return
  throw new ExportError('OUTPUT_FAILED', `${path} is a pipe, a socket or a device`, {
    fix: 'Remove it: a regular file belongs there.',
  })
}

/** Gives a fault of the file system its code and words: what was tried, and why it failed. */
export function diskError(action: string, cause: unknown): ExportError {
  if (cause instanceof ExportError) return cause
  const { code, message } = cause as NodeJS.ErrnoException
  return new ExportError('OUTPUT_FAILED', `${action}: ${code ?? message}`, { cause, fix: diskFix(code) })
}
