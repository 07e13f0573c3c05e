import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { diskError } from './disk.ts'
import { ExportError } from './errors.ts'

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
    if (!ABSENT.has(code) || above === path) throw diskError(`cannot write ${path}`, cause)
    return join(await realPathOf(above), basename(path))
  }
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR'])
