import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { MANIFEST_FILE, RECONCILIATION_FILE } from '../core/model/manifest.ts'
import { type Reconciliation, toReconciliation } from '../core/model/reconciliation.ts'
import { readTextIfExists } from '../core/platform/disk.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { openUserFile } from '../core/platform/open-user-file.ts'

/**
 * The stored verdict of an output. `isCurrent`: its export is still the one that was compared. `hasSameFiles`: the compared
 * sums contain the same opening balances and adjustments of the user as the books that read the verdict.
 */
export type StoredReconciliation = Reconciliation & { isCurrent: boolean; hasSameFiles: boolean }

/** Paths of the files that are part of books; other values of `opening` name no file. */
export type BookFiles = { opening?: unknown; adjustments?: string | undefined }

/**
 * Reads the verdict of the last `reconcile` of an output; undefined if there is none, or if it is damaged.
 *
 * @param files those of the books that the verdict is about. @default none
 */
export async function readReconciliation(
  folder: string,
  files: BookFiles = {},
): Promise<StoredReconciliation | undefined> {
  const text = await readTextIfExists(join(folder, RECONCILIATION_FILE))
  const verdict = text === undefined ? undefined : toReconciliation(parseJson(text))
  if (verdict === undefined) return undefined
  const [given, compared] = [await hashBookFiles(files), verdict.files]
  return {
    ...verdict,
    isCurrent: (await hashManifest(folder)) === verdict.manifestSha256,
    hasSameFiles: given.opening === compared.opening && given.adjustments === compared.adjustments,
  }
}

/** SHA-256 of the files, each absent if there is none. Throws USAGE if one cannot be read. */
export async function hashBookFiles({ opening, adjustments }: BookFiles): Promise<Reconciliation['files']> {
  return {
    ...(typeof opening === 'string' && { opening: await hashUserFile(opening) }),
    ...(adjustments !== undefined && { adjustments: await hashUserFile(adjustments) }),
  }
}

async function hashUserFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of await openUserFile(path, 'Name the file again.')) hash.update(chunk)
  return hash.digest('hex')
}

/** SHA-256 of the manifest of an output, as lower-case hex; undefined if there is none. */
export async function hashManifest(folder: string): Promise<string | undefined> {
  const text = await readTextIfExists(join(folder, MANIFEST_FILE))
  return text === undefined ? undefined : createHash('sha256').update(text).digest('hex')
}
