import type { Job } from '../core/model/model.ts'
import { openBucketStore } from './bucket-store.ts'
import { folderStore, type Store } from './store.ts'

/** Opens where a job's export is published: its folder, or a place in an object store. Throws OUTPUT_LOCKED, OUTPUT_FAILED. */
export async function openStore({ output, store }: Pick<Job, 'output' | 'store'>): Promise<Store> {
  return store === undefined ? folderStore(output) : openBucketStore(store, output)
}
