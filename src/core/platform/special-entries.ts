import type { Dirent, Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError, type FailureCode } from '../model/errors.ts'
import { EXPORT_ENTRIES } from '../model/manifest.ts'

/**
 * The first entry of an export that is neither a file nor a folder, with its kind; undefined if there is
 * none. The output folder itself, and entries that walletlake does not create, may be symbolic links.
 */
export async function findSpecialEntry(output: string): Promise<string | undefined> {
  for (const name of EXPORT_ENTRIES) {
    const path = join(output, name)
    const entry = await lstat(path).catch(() => undefined)
    const kind = kindOfSpecial(entry)
    if (kind !== undefined) return `${path} is ${kind}`
    const below = entry?.isDirectory() ? await specialBelow(path) : undefined
    if (below !== undefined) return below
  }
  return undefined
}

async function specialBelow(folder: string): Promise<string | undefined> {
  // A folder that cannot be read here, such as another user's private folder, is reported where it is needed.
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])
  for (const entry of entries) {
    const kind = kindOfSpecial(entry)
    if (kind !== undefined) return `${join(entry.parentPath, entry.name)} is ${kind}`
  }
  return undefined
}

function kindOfSpecial(entry: Dirent | Stats | undefined): string | undefined {
  if (entry === undefined || entry.isFile() || entry.isDirectory()) return undefined
  if (entry.isSymbolicLink()) return 'a symbolic link'
  return entry.isFIFO() ? 'a named pipe' : 'a socket or a device'
}

/**
 * Throws if an export contains a symbolic link, a pipe or a device, through which another user could cause
 * files outside the export to be read or overwritten. `code` is OUTPUT_FAILED for commands that write to the
 * export and VERIFY_FAILED for those that read it.
 */
export async function assertNoSpecialEntries(output: string, code: FailureCode): Promise<void> {
  const entry = await findSpecialEntry(output)
  if (entry !== undefined) throw new ExportError(code, entry, { fix: SPECIAL_ENTRY_FIX })
}

/**
 * Throws OUTPUT_FAILED if a path is a symbolic link, a pipe or a device. A path that does not exist is valid.
 */
export async function assertNotSpecial(path: string): Promise<void> {
  const kind = kindOfSpecial(await lstat(path).catch(() => undefined))
  if (kind !== undefined)
    throw new ExportError('OUTPUT_FAILED', `${path} is ${kind}`, { fix: SPECIAL_ENTRY_FIX })
}

const SPECIAL_ENTRY_FIX =
  'Remove it: an export consists of files and folders only. The output folder itself may be a symbolic link.'
