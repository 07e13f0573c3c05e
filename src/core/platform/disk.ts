import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, type FileHandle, link, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { diskFix, ExportError } from '../model/errors.ts'
import { MAX_MANIFEST_BYTES } from '../model/limits.ts'
import { entryAt, isFolder } from './entry.ts'
import { createTemporary, removeStaleTemporaries } from './temporary-file.ts'

/**
 * Creates a folder and its missing parents. Node's `recursive` option never returns inside a folder that does
 * not allow new entries (/proc).
 */
export async function makeFolder(path: string): Promise<void> {
  const make = () =>
    mkdir(path).catch(async (cause: NodeJS.ErrnoException) => ((await isFolder(path)) ? undefined : cause))
  const parent = dirname(path)
  let error = await make()
  if (error?.code === 'ENOENT') {
    // Another job may have created the parent meanwhile.
    if (!(await isFolder(parent))) await makeFolder(parent)
    error = await make()
  }
  if (error !== undefined) throw error
}

/** Creates the folder of a file. */
export const makeParentFolder = (path: string): Promise<void> => makeFolder(dirname(path))

/** Creates a folder that only its owner may enter, and its missing parents. */
export async function makePrivateFolder(path: string): Promise<void> {
  await makeFolder(path)
  const { mode } = await stat(path)
  if ((mode & 0o077) !== 0) await chmod(path, 0o700).catch(ignoreUnsupported)
}

/**
 * Ignores errors of file systems without permissions (exFAT, SMB), and of folders that belong to another
 * user.
 */
function ignoreUnsupported(cause: NodeJS.ErrnoException): void {
  if (!UNSUPPORTED.has(cause.code ?? '')) throw cause
}

/** Error codes of unsupported operations. */
const UNSUPPORTED = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EPERM'])

/**
 * Syncs a folder, so that renames and removals in it survive a power failure. File systems that do not
 * support this for folders (SMB, some FUSE mounts) persist names by themselves, or not at all.
 */
export const syncFolder = (folder: string): Promise<void> =>
  withFile(folder, 'r', (handle) => handle.sync().catch(ignoreUnsupported))

const syncFile = (path: string): Promise<void> => withFile(path, 'r', (handle) => handle.sync())

/** Opens a file for some work, and closes it. */
export async function withFile<T>(
  path: string,
  flags: string | number,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await open(path, flags)
  try {
    return await work(handle)
  } finally {
    await handle.close()
  }
}

/**
 * Atomically moves a finished file to its final name.
 *
 * The content is synced before the rename, and the folder before this returns: after a crash there is the old
 * file, the new one, or a stray temporary file, but never a partial one. `from` must be on the same file
 * system.
 */
export async function publishFile(from: string, to: string): Promise<void> {
  await syncFile(from)
  await makeFolder(dirname(to))
  await rename(from, to)
  await syncFolder(dirname(to))
}

/**
 * Atomically replaces a small file, and removes temporary files of ended processes next to it. `mode` is
 * subject to the umask. Throws OUTPUT_FAILED.
 */
export const writeAtomically = (path: string, content: string | Uint8Array, mode?: number): Promise<void> =>
  withTemporary(path, content, mode, (temporary) => publishFile(temporary, path))

/**
 * Writes a small file unless there is one with its name; resolves with false if there is. On a file system without hard
 * links, two writers at the same moment could both succeed. Throws OUTPUT_FAILED.
 */
export async function createFile(path: string, content: Uint8Array): Promise<boolean> {
  await makeParentFolder(path).catch((cause: unknown) => {
    throw diskError(`cannot write ${path}`, cause)
  })
  return withTemporary(path, content, undefined, async (temporary) => {
    await syncFile(temporary)
    const isCreated = await linkUnlessExists(temporary, path)
    await syncFolder(dirname(path))
    return isCreated
  })
}

/** Writes a temporary file next to `path`, which `place` gives its name, and removes it if it is left. */
async function withTemporary<T>(
  path: string,
  content: string | Uint8Array,
  mode: number | undefined,
  place: (temporary: string) => Promise<T>,
): Promise<T> {
  let temporary: string | undefined
  try {
    await removeStaleTemporaries(dirname(path))
    const created = await createTemporary(path, mode)
    temporary = created.path
    await created.handle.writeFile(content).finally(() => created.handle.close())
    return await place(temporary)
  } catch (cause) {
    throw diskError(`cannot write ${path}`, cause)
  } finally {
    if (temporary !== undefined) await rm(temporary, { force: true }).catch(() => undefined)
  }
}

/** Gives a temporary file its name unless there is a file with it; resolves with false if there is. */
export async function linkUnlessExists(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    if ((await entryAt(to)) !== undefined) return false
    await rename(from, to)
    return true
  }
}

/** Permissions of the private files of an output. */
export const PRIVATE_MODE = 0o600

/** SHA-256 of a file, as lower-case hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const block of readBlocks(path)) hash.update(block)
  return hash.digest('hex')
}

/** Reads a file block by block. All blocks share one buffer, so each is valid only until the next. */
export async function* readBlocks(path: string): AsyncGenerator<Buffer, void, void> {
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES)
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, BLOCK_BYTES, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

/** Fits into the cache of a core. */
const BLOCK_BYTES = 1 << 18

/**
 * The text of a small file; undefined if it does not exist. Does not follow a symbolic link or wait for a
 * pipe. Throws OUTPUT_FAILED, also for a file of more than `maxBytes`.
 */
export async function readTextIfExists(
  path: string,
  maxBytes: number = MAX_MANIFEST_BYTES,
): Promise<string | undefined> {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    return await withFile(path, flags, async (handle) => {
      await requireRegularFile(handle, path)
      return readBounded(handle, maxBytes)
    })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw diskError(`cannot read ${path}`, cause)
  }
}

/** The first bytes of a file. Throws the error of the file system. */
export const readStart = (path: string, length: number): Promise<Buffer> =>
  withFile(path, 'r', async (handle) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  })

/** The text of a manifest. Throws the error of the file system, or an Error if it is too large to be one. */
export const readManifestText = (path: string): Promise<string> =>
  withFile(path, 'r', (handle) => readBounded(handle, MAX_MANIFEST_BYTES))

async function readBounded(handle: FileHandle, maxBytes: number): Promise<string> {
  const { size } = await handle.stat()
  if (size > maxBytes) throw new Error(`larger than ${maxBytes / 2 ** 20} MiB`)
  return handle.readFile('utf8')
}

/** Throws OUTPUT_FAILED if an open file is a pipe, a socket or a device. */
export async function requireRegularFile(handle: FileHandle, path: string): Promise<void> {
  const entry = await handle.stat()
  // A folder passes: reading it reports the error.
  if (entry.isFile() || entry.isDirectory()) return
  throw new ExportError('OUTPUT_FAILED', `${path} is a pipe, a socket or a device`, {
    fix: 'Remove it: a regular file belongs there.',
  })
}

/**
 * Converts a file system error to OUTPUT_FAILED.
 *
 * @param action What was attempted, such as `cannot write out.csv`.
 */
export function diskError(action: string, cause: unknown): ExportError {
  if (cause instanceof ExportError) return cause
  const { code, message } = cause as NodeJS.ErrnoException
  return new ExportError('OUTPUT_FAILED', `${action}: ${code ?? message}`, { cause, fix: diskFix(code) })
}
