import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** SHA-256 by path of every file of an output that must be deterministic: all but run reports and private files. */
export function outputBytes(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  const hashes = files
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('runs/') && !path.startsWith('.walletlake/'))
    .sort()
    .map(
      (path) =>
        [
          path,
          createHash('sha256')
            .update(readFileSync(join(folder, path)))
            .digest('hex'),
        ] as const,
    )
  return Object.fromEntries(hashes)
}
