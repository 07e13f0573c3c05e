import { rmdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** What was missing on the way to a path before something was done there. */
type FoldersBefore = {
  /** Whether nothing was at the path itself. */
  isNew: boolean
  /** Removes the folders that were missing before and are empty now, so that work which fails leaves none behind. */
  removeEmpty(): Promise<void>
}

/** Notes which folders on the way to a path are not there yet. */
export async function trackCreatedFolders(path: string): Promise<FoldersBefore> {
  const missing: string[] = []
  for (let folder = resolve(path); !(await exists(folder)); folder = dirname(folder)) missing.push(folder)
  const removeEmpty = async () => {
    for (const folder of missing) {
      // A file, or a folder that something is in, stays; so does what nobody may remove.
      const error = await rmdir(folder).catch((cause: NodeJS.ErrnoException) => cause)
      if (error !== undefined && error.code !== 'ENOENT') return
    }
  }
  return { isNew: missing.length > 0, removeEmpty }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => dirname(path) === path,
  )
