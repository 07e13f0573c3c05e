import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { ExportError } from '../model/errors.ts'
import { EXPORT_ENTRIES } from '../model/manifest.ts'
import { diskError, makeParentFolder, writeAtomically } from './disk.ts'

/**
 * Where a file that a user names is to be written: at the end of its links, which stay. Throws USAGE where a pipe, a device or
 * the like stands there, which a file of ours would replace; OUTPUT_FAILED where nobody may look. A folder passes: that it is
 * none is for whoever writes into it, or cannot.
 */
export async function resolveWritePath(path: string, fix = 'Name a file.'): Promise<string> {
  const refusal = new ExportError('USAGE', `${path} is no file: a pipe, a device, or a link to nothing`, {
    fix,
  })
  if (STREAM_PATHS.test(resolve(path))) throw refusal
  const entry = await stat(path).catch(() => undefined)
  if (entry === undefined) {
    if (await isLink(path)) throw refusal
    return realPathOf(path)
  }
  if (!entry.isFile() && !entry.isDirectory()) throw refusal
  // The target of a link may be open, and deleted: then it has no path.
  return realpath(path).catch(() => {
    throw refusal
  })
}

/** Throws OUTPUT_FAILED where a folder is there, or is meant by a slash in the end, and a file is to be written. */
export async function assertNotFolder(path: string): Promise<void> {
  const entry = await stat(path).catch(() => undefined)
  if (entry?.isDirectory() || /(^|[\\/])$/.test(path))
    throw diskError(`cannot write ${path}`, Object.assign(new Error(), { code: 'EISDIR' }))
}

/** Writes a file where a user wants it, all or nothing, into a folder that need not be there. Throws OUTPUT_FAILED. */
export async function writeNamedFile(path: string, text: string): Promise<void> {
  await makeParentFolder(path).catch((cause: unknown) => {
    throw diskError(`cannot write ${path}`, cause)
  })
  await writeAtomically(path, text)
}

/** A fault of reading a file that a user names, as USAGE with plain words. */
export function inputError(file: string, cause: unknown, fix: string): ExportError {
  const { code = '', message } = cause as NodeJS.ErrnoException
  return new ExportError('USAGE', `cannot read ${file}: ${READ_PROBLEMS[code] ?? message}`, { fix, cause })
}

/** By the system's word for it. */
const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
}

/** What a command must not write over. */
export type ProtectedPaths = {
  /** Files that it reads, by the options that name them. */
  inputs: Readonly<Record<string, string | undefined>>
  /** Folders with an export each; what runs make in them stays. */
  exports: readonly string[]
}

/** The same of a file that `--out` names. Throws USAGE, too, where the command would write over what it reads. */
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
        fix: 'Name another file with --out.',
      })
  for (const folder of exports) {
    const [entry = ''] = relative(await realPathOf(folder), resolved).split(sep)
    if (entry === '' || EXPORT_ENTRIES.has(entry))
      throw new ExportError('USAGE', `${path} is part of the export ${folder}`, {
        fix: 'Name another place with --out.',
      })
  }
  return resolved
}

/** A link that the user names is followed, but not one inside an export, where another user may have left it. */
async function assertNoLinkInside(path: string, exports: readonly string[]): Promise<void> {
  if (!(await isLink(path))) return
  const folder = await realPathOf(dirname(resolve(path)))
  for (const output of exports) {
    const [firstSegment] = relative(await realPathOf(output), folder).split(sep)
    if (firstSegment !== '..')
      throw new ExportError('OUTPUT_FAILED', `${path} is a symbolic link inside the export ${output}`, {
        fix: 'Remove it, or name another file with --out.',
      })
  }
}

/** What a process has open. Even where that is a file, as after `>> all.csv`, its earlier lines would be lost. */
const STREAM_PATHS = /^\/(dev\/(std(in|out|err)$|fd\/)|proc\/)/

const isLink = (path: string) =>
  lstat(path).then(
    (entry) => entry.isSymbolicLink(),
    () => false,
  )

/** The path without links, also of what is not there yet. Throws OUTPUT_FAILED where nobody may look. */
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
