import { join } from 'node:path'
import type { Job } from '../core/model/model.ts'
import { openBucket } from './bucket.ts'

/**
 * Publishes files of an output that are no part of the export, such as the report of a run; in a folder they lie in place already.
 * Their names are their own, so that nobody needs to hold the output. Throws OUTPUT_FAILED.
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
