import { join } from 'node:path'
import type { Job } from '../core/model/model.ts'
import { openBucket } from './bucket.ts'

/**
 * Uploads files of an output that are not part of the export, such as run reports; does nothing for a folder,
 * where they are in place already. Their names are unique, so no lease is needed. Throws OUTPUT_FAILED.
 */
export async function uploadSidecar(
  { output, store }: Pick<Job, 'output' | 'store'>,
  ...paths: readonly string[]
): Promise<void> {
  if (store === undefined) return
  const bucket = await openBucket(store)
  try {
    for (const path of paths) await bucket.putFile(path, join(output, path))
  } finally {
    bucket.close()
  }
}
