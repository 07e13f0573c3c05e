import { rmdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { entryAt } from './entry.ts'

/** The folders that were missing before an operation created files below a path. */
type FoldersBefore = {
  /** Whether the path itself did not exist. */
  isNew: boolean
  /**
   * Removes those of the missing folders that are empty now, so that a failed operation leaves none behind.
   */
  removeEmpty(): Promise<void>
}

/** Records which folders of a path do not exist yet. */
export async function trackCreatedFolders(path: string): Promise<FoldersBefore> {
  const missing: string[] = []
  const isMissing = async (folder: string) =>
    dirname(folder) !== folder && (await entryAt(folder)) === undefined
  for (let folder = resolve(path); await isMissing(folder); folder = dirname(folder)) missing.push(folder)
  const removeEmpty = async () => {
    for (const folder of missing) {
      // Stops at a file, a folder that is not empty, or a folder that cannot be removed.
      const error = await rmdir(folder).catch((cause: NodeJS.ErrnoException) => cause)
      if (error !== undefined && error.code !== 'ENOENT') return
    }
  }
  return { isNew: missing.length > 0, removeEmpty }
}
