import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { isRunReportPath } from '../core/model/export-path.ts'
import {
  MANIFEST_FILE,
  type ManifestFile,
  RECONCILIATION_FILE,
  REJECTS_FILE,
  RUNS_FOLDER,
} from '../core/model/manifest.ts'
import { isManifest } from '../core/model/manifest-schema.ts'
import type { BucketLocation } from '../core/model/model.ts'
import { writeAtomically } from '../core/platform/disk.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { RETRY_POLICIES, retry } from '../core/platform/retry.ts'
import type { TableName } from '../core/table/index.ts'
import { type Bucket, openBucket } from './bucket.ts'

/**
 * Downloads a published export into an empty folder, which is then a normal output: manifest, rejects, run
 * reports, and the files of the given tables (default: all). Throws USAGE if nothing is published there,
 * VERIFY_FAILED if a file does not match the manifest, and OUTPUT_FAILED.
 */
export async function fetchExport(
  location: BucketLocation,
  folder: string,
  tables?: readonly TableName[],
): Promise<void> {
  const bucket = await openBucket(location)
  try {
    let isReplaced = false
    const fetchOnce = async () => {
      isReplaced = false
      const stored = await fetchManifest(bucket, folder)
      try {
        await fetchListed(bucket, { folder, manifest: stored.text, tables })
      } catch (error) {
        isReplaced = (await bucket.readText(MANIFEST_FILE))?.version !== stored.version
        throw error
      }
    }
    await retry(RETRY_POLICIES.replacedExport, fetchOnce, { isRetryable: () => isReplaced })
  } finally {
    bucket.close()
  }
}

async function fetchManifest(bucket: Bucket, folder: string) {
  const stored = await bucket.readText(MANIFEST_FILE)
  if (stored === undefined) throw noExportError(bucket)
  await writeAtomically(join(folder, MANIFEST_FILE), stored.text)
  return stored
}

type Wanted = { folder: string; manifest: string; tables: readonly TableName[] | undefined }

/** Fetches the files of a manifest, the rejects, the verdict of `reconcile` and the reports of runs. */
async function fetchListed(bucket: Bucket, { folder, manifest, tables }: Wanted): Promise<void> {
  await fetchFiles(bucket, filesOf(manifest, tables), folder)
  for (const path of [REJECTS_FILE, RECONCILIATION_FILE]) await bucket.fetch(path, folder)
  for (const path of (await bucket.sizes(`${RUNS_FOLDER}/`)).keys())
    if (isRunReportPath(path)) await bucket.fetch(path, folder)
}

/** Files in a manifest; empty for a damaged one, which is reported when it is read. */
function filesOf(text: string, tables: readonly TableName[] | undefined): ManifestFile[] {
  const manifest = parseJson(text)
  if (!isManifest(manifest)) return []
  const wanted = Object.entries(manifest.tables).filter(
    ([name]) => tables === undefined || tables.some((table) => table === name),
  )
  return wanted.flatMap(([, { files }]) => files)
}

function noExportError({ name }: Bucket): ExportError {
  return new ExportError('USAGE', `${name} holds no finished export (no ${MANIFEST_FILE})`, {
    fix: 'Run the job until it is complete, or name the output of a complete export, as in its job file.',
  })
}

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
        const actual = await bucket.fetch(path, folder)
        if (actual === sha256) return
        const problem =
          actual === undefined ? 'the file is missing' : `expected the SHA-256 ${sha256}, found ${actual}`
        throw new ExportError('VERIFY_FAILED', `${bucket.name}/${path}: ${problem}`)
      }),
    ),
  )
}
