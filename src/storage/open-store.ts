import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunReportPath, resolveInside } from '../core/model/export-path.ts'
import { RECONCILIATION_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { openBucket } from './bucket.ts'
import { copyManifest, openBucketStore } from './bucket-store.ts'
import { folderStore, type Store } from './store.ts'

/**
 * Opens the location to which a job's export is published: its folder, or an object store. Throws
 * OUTPUT_LOCKED and OUTPUT_FAILED.
 */
export async function openStore(
  { output, store }: Pick<Job, 'output' | 'store'>,
  signal?: AbortSignal,
): Promise<Store> {
  return store === undefined ? folderStore(output) : openBucketStore(store, output, signal)
}

/**
 * Opens a published export for reading only, even while a run writes to it. For an object store, the
 * manifest, the rejects, the run reports and the verdict of `reconcile` are copied to the folder first. Throws OUTPUT_FAILED.
 */
export async function inspectStore({
  output,
  store,
}: Pick<Job, 'output' | 'store'>): Promise<Pick<Store, 'size'>> {
  if (store === undefined) return folderStore(output)
  const bucket = await openBucket(store)
  try {
    const sizes = await bucket.sizes('')
    await copyManifest({ bucket, folder: output, sizes })
    if (sizes.has(RECONCILIATION_FILE)) await bucket.fetch(RECONCILIATION_FILE, output)
    for (const path of sizes.keys()) {
      if (!isRunReportPath(path)) continue
      const isFetched = await stat(resolveInside(output, path)).catch(() => undefined)
      if (!isFetched) await bucket.fetch(path, output)
    }
    return { size: async (path) => sizes.get(path) }
  } finally {
    bucket.close()
  }
}

/**
 * Uploads a file of an output that is not part of the export, such as a run report; does nothing for a folder,
 * where it is in place already. No lease is needed. Throws OUTPUT_FAILED.
 */
export async function uploadSidecar(
  { output, store }: Pick<Job, 'output' | 'store'>,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  if (store === undefined) return
  const bucket = await openBucket(store, { signal })
  try {
    await bucket.putFile(path, join(output, path))
  } finally {
    bucket.close()
  }
}
