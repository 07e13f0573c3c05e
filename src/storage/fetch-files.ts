import { ExportError } from '../core/model/errors.ts'
import type { ManifestFile } from '../core/model/manifest.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import type { Bucket } from './bucket.ts'

/** Files that are fetched at once. */
const CONCURRENT_DOWNLOADS = 4

/** Fetches files of an export into a folder. Throws VERIFY_FAILED where one is not what the manifest says. */
export async function fetchFiles(
  bucket: Bucket,
  files: readonly ManifestFile[],
  folder: string,
): Promise<void> {
  const limit = limitConcurrency(CONCURRENT_DOWNLOADS)
  await Promise.all(
    files.map(({ path, sha256 }) =>
      limit(async () => {
        const found = await bucket.fetch(path, folder)
        if (found === sha256) return
        const problem =
          found === undefined ? 'it is not there' : `expected the SHA-256 ${sha256}, found ${found}`
        throw new ExportError('VERIFY_FAILED', `${bucket.name}/${path}: ${problem}`)
      }),
    ),
  )
}
