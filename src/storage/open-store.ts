import type { Job } from '../core/model/model.ts'
import { openBucketStore } from './bucket-store.ts'
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
