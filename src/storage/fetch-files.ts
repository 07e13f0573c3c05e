import { ExportError } from '../core/model/errors.ts'
import type { ManifestFile } from '../core/model/manifest.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import type { Bucket } from './bucket.ts'

/** Concurrent downloads. */
const CONCURRENT_DOWNLOADS = 4

/** Downloads files of an export into a folder. Throws VERIFY_FAILED if one does not match the manifest. */
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
          found === undefined ? 'the file is missing' : `expected the SHA-256 ${sha256}, found ${found}`
        throw new ExportError('VERIFY_FAILED', `${bucket.name}/${path}: ${problem}`)
      }),
    ),
  )
}
