import { join } from 'node:path'
import type { Job } from '../core/model/model.ts'
import { openBucket } from './bucket.ts'

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
