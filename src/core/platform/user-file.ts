import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { diskFix, ExportError } from '../model/errors.ts'
import { EXPORT_ENTRIES } from '../model/manifest.ts'
import { diskError, makeParentFolder, writeAtomically } from './disk.ts'
import { entryAt } from './entry.ts'

/**
 * Resolves the path of a file that the user named for writing: symbolic links are followed, so that the link
 * itself is retained. Throws USAGE for a pipe, a device or a broken link, which the file would replace, and
 * OUTPUT_FAILED if the path cannot be accessed. A folder passes: the function that writes reports it.
 */
export async function resolveWritePath(path: string, fix = 'Name a file.'): Promise<string> {
  const refusal = new ExportError('USAGE', `${path} is a pipe, a device or a broken link`, {
    fix,
  })
  if (STREAM_PATHS.test(resolve(path))) throw refusal
  const entry = await entryAt(path)
  if (entry === undefined) {
    if (await isLink(path)) throw refusal
    return realPathOf(path)
  }
  if (!entry.isFile() && !entry.isDirectory()) throw refusal
  // The target of a link may be open but deleted; it then has no path.
  return realpath(path).catch(() => {
    throw refusal
  })
}

/** Throws OUTPUT_FAILED if a path that is to become a file is a folder or ends in a slash. */
export async function assertNotFolder(path: string): Promise<void> {
  const entry = await entryAt(path)
  if (entry?.isDirectory() || /(^|[\\/])$/.test(path))
    throw new ExportError('OUTPUT_FAILED', `cannot write ${path}: it is a folder`, { fix: diskFix('EISDIR') })
}

/** Atomically writes a file that the user named; creates missing folders. Throws OUTPUT_FAILED. */
export async function writeNamedFile(path: string, text: string | Uint8Array): Promise<void> {
  await makeParentFolder(path).catch((cause: unknown) => {
    throw diskError(`cannot write ${path}`, cause)
  })
  await writeAtomically(path, text)
}

/** Converts an error from reading a user's file to USAGE with a plain message. */
export function inputError(file: string, cause: unknown, fix: string): ExportError {
  const { code = '', message } = cause as NodeJS.ErrnoException
  return new ExportError('USAGE', `cannot read ${file}: ${READ_PROBLEMS[code] ?? message}`, { fix, cause })
}

/** Messages by error code. */
const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
}

/** Paths that a command must not overwrite. */
export type ProtectedPaths = {
  /** Files that the command reads, by the option that names them. */
  inputs: Readonly<Record<string, string | undefined>>
  /** Folders of exports, whose own entries must not be overwritten. */
  exports: readonly string[]
}

/**
 * Resolves the path of `--out` like `resolveWritePath`. Also throws USAGE if the command would overwrite one
 * of its inputs or a part of an export.
 */
export async function resolveOutputPath(
  path: string,
  { inputs, exports }: ProtectedPaths,
  fix?: string,
): Promise<string> {
  await assertNoLinkInside(path, exports)
  const resolved = await resolveWritePath(path, fix)
  for (const [option, input] of Object.entries(inputs))
    if (input !== undefined && (await realPathOf(input)) === resolved)
      throw new ExportError('USAGE', `${path} is the file that ${option} names`, {
        fix: 'Name another file.',
      })
  for (const folder of exports) {
    const [entry = ''] = relative(await realPathOf(folder), resolved).split(sep)
    if (entry === '' || EXPORT_ENTRIES.has(entry))
      throw new ExportError('USAGE', `${path} is part of the export ${folder}`, {
        fix: 'Name another path.',
      })
  }
  return resolved
}

/**
 * Rejects a symbolic link inside an export, which another user may have created. Other links are followed.
 */
async function assertNoLinkInside(path: string, exports: readonly string[]): Promise<void> {
  if (!(await isLink(path))) return
  const folder = await realPathOf(dirname(resolve(path)))
  for (const output of exports) {
    const [firstSegment] = relative(await realPathOf(output), folder).split(sep)
    if (firstSegment !== '..')
      throw new ExportError('OUTPUT_FAILED', `${path} is a symbolic link inside the export ${output}`, {
        fix: 'Remove it, or name another file.',
      })
  }
}

/**
 * Paths of open streams. Even if such a stream is a file, as after `>> all.csv`, writing to it would lose its
 * earlier lines.
 */
const STREAM_PATHS = /^\/(dev\/(std(in|out|err)$|fd\/)|proc\/)/

const isLink = (path: string) =>
  lstat(path).then(
    (entry) => entry.isSymbolicLink(),
    () => false,
  )

/**
 * The path with all links resolved, even if its last segments do not exist. Throws OUTPUT_FAILED if it cannot
 * be accessed.
 */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const parent = dirname(path)
    if (!ABSENT.has(code) || parent === path) throw diskError(`cannot reach ${path}`, cause)
    return join(await realPathOf(parent), basename(path))
  }
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR'])
