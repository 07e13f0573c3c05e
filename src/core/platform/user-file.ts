import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { ExportError } from '../model/errors.ts'
import { EXPORT_ENTRIES } from '../model/manifest.ts'
import { diskError, makeFolderOf, writeAtomically } from './disk.ts'

/**
 * Where a file that a user names is to be written: at the end of its links, which stay. Throws USAGE where a pipe, a device or
 * the like stands there, which a file of ours would replace; OUTPUT_FAILED where nobody may look. A folder passes: that it is
 * none is for whoever writes into it, or cannot.
 */
export async function placeToWrite(path: string, fix = 'Name a file.'): Promise<string> {
  const refusal = new ExportError('USAGE', `${path} is no file: a pipe, a device, or a link to nothing`, {
    fix,
  })
  if (STREAMS.test(resolve(path))) throw refusal
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
export async function refuseFolder(path: string): Promise<void> {
  const entry = await stat(path).catch(() => undefined)
  if (entry?.isDirectory() || /(^|[\\/])$/.test(path))
    throw diskError(`cannot write ${path}`, Object.assign(new Error(), { code: 'EISDIR' }))
}

/** Writes a file where a user wants it, all or nothing, into a folder that need not be there. Throws OUTPUT_FAILED. */
export async function writeNamedFile(place: string, text: string): Promise<void> {
  await makeFolderOf(place).catch((cause: unknown) => {
    throw diskError(`cannot write ${place}`, cause)
  })
  await writeAtomically(place, text)
}

/** A fault of reading a file that a user names, as USAGE with plain words. */
export function inputFault(file: string, cause: unknown, fix: string): ExportError {
  const { code = '', message } = cause as NodeJS.ErrnoException
  return new ExportError('USAGE', `cannot read ${file}: ${WHY_UNREAD[code] ?? message}`, { fix, cause })
}

/** By the system's word for it. */
const WHY_UNREAD: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
}

/** What a command must not write over. */
export type Kept = {
  /** Files that it reads, by the options that name them. */
  inputs: Readonly<Record<string, string | undefined>>
  /** Folders with an export each; what runs make in them stays. */
  exports: readonly string[]
}

/** The same of a file that `--out` names. Throws USAGE, too, where the command would write over what it reads. */
export async function placeApart(path: string, { inputs, exports }: Kept, fix?: string): Promise<string> {
  await refuseLinkInside(path, exports)
  const place = await placeToWrite(path, fix)
  for (const [option, input] of Object.entries(inputs))
    if (input !== undefined && (await realPathOf(input)) === place)
      throw new ExportError('USAGE', `${path} is the file that ${option} names`, {
        fix: 'Name another file with --out.',
      })
  for (const folder of exports) {
    const [entry = ''] = relative(await realPathOf(folder), place).split(sep)
    if (entry === '' || EXPORT_ENTRIES.has(entry))
      throw new ExportError('USAGE', `${path} is part of the export ${folder}`, {
        fix: 'Name another place with --out.',
      })
  }
  return place
}

/** A link that the user names is followed, but not one inside an export, where another user may have left it. */
async function refuseLinkInside(path: string, exports: readonly string[]): Promise<void> {
  if (!(await isLink(path))) return
  const folder = await realPathOf(dirname(resolve(path)))
  for (const output of exports) {
    const [first] = relative(await realPathOf(output), folder).split(sep)
    if (first !== '..')
      throw new ExportError('OUTPUT_FAILED', `${path} is a symbolic link inside the export ${output}`, {
        fix: 'Remove it, or name another file with --out.',
      })
  }
}

/** What a process has open. Even where that is a file, as after `>> all.csv`, its earlier lines would be lost. */
const STREAMS = /^\/(dev\/(std(in|out|err)$|fd\/)|proc\/)/

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
    const above = dirname(path)
    if (!ABSENT.has(code) || above === path) throw diskError(`cannot reach ${path}`, cause)
    return join(await realPathOf(above), basename(path))
  }
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR'])
