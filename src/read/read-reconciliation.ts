import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { MANIFEST_FILE, RECONCILIATION_FILE } from '../core/model/manifest.ts'
import { type Reconciliation, toReconciliation } from '../core/model/reconciliation.ts'
import { readTextIfExists } from '../core/platform/disk.ts'
import { parseJson } from '../core/platform/json-text.ts'

/** The stored verdict of an output, and whether its export is still the one that was compared. */
export type StoredReconciliation = Reconciliation & { isCurrent: boolean }

/** Reads the verdict of the last `reconcile` of an output; undefined if there is none, or if it is damaged. */
export async function readReconciliation(folder: string): Promise<StoredReconciliation | undefined> {
  const text = await readTextIfExists(join(folder, RECONCILIATION_FILE))
  const verdict = text === undefined ? undefined : toReconciliation(parseJson(text))
  if (verdict === undefined) return undefined
  return { ...verdict, isCurrent: (await hashManifest(folder)) === verdict.manifestSha256 }
}

/** SHA-256 of the manifest of an output, as lower-case hex; undefined if there is none. */
export async function hashManifest(folder: string): Promise<string | undefined> {
  const text = await readTextIfExists(join(folder, MANIFEST_FILE))
  return text === undefined ? undefined : createHash('sha256').update(text).digest('hex')
}
