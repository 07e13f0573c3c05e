import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'

/** What is at a path, with links followed; undefined if there is nothing, or if it cannot be accessed. */
export const entryAt = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined)

export const isFolder = async (path: string): Promise<boolean> =>
  (await entryAt(path))?.isDirectory() ?? false
