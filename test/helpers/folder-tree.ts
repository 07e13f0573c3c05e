import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Lists everything below a folder, one line per entry: path, kind, and content hash or link target. */
export function folderTree(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const name = relative(folder, path)
      if (entry.isSymbolicLink()) return `${name} link ${readlinkSync(path)}`
      if (!entry.isFile()) return `${name} ${entry.isDirectory() ? 'folder' : 'special'}`
      return `${name} file ${createHash('sha256').update(readFileSync(path)).digest('hex')}`
    })
    .sort()
}
