import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { isRunReportPath } from '../core/model/export-path.ts'
import { MANIFEST_FILE, type ManifestFile, REJECTS_FILE, RUNS_FOLDER } from '../core/model/manifest.ts'
import { isManifest } from '../core/model/manifest-schema.ts'
import type { BucketLocation } from '../core/model/model.ts'
import { writeAtomically } from '../core/platform/disk.ts'
import { parseJson } from '../core/platform/json-text.ts'
import type { TableName } from '../core/table/index.ts'
import { type Bucket, openBucket } from './bucket.ts'
import { fetchFiles } from './fetch-files.ts'

/** Maximum number of attempts to download an export that another run replaces in the meantime. */
const MAX_ATTEMPTS = 3

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
    for (let attempt = 1; ; attempt += 1) {
      const failure = await fetchOnce(bucket, folder, tables)
      if (failure === undefined) return
      const isReplaced = (await bucket.readText(MANIFEST_FILE))?.version !== failure.version
      if (!isReplaced || attempt === MAX_ATTEMPTS) throw failure.error
    }
  } finally {
    bucket.close()
  }
}

/**
 * Downloads the export once; resolves with the error and the version of the manifest, or with undefined on
 * success.
 */
async function fetchOnce(bucket: Bucket, folder: string, tables: readonly TableName[] | undefined) {
  const found = await bucket.readText(MANIFEST_FILE)
  if (found === undefined) throw noExportError(bucket)
  await writeAtomically(join(folder, MANIFEST_FILE), found.text)
  try {
    await fetchFiles(bucket, filesOf(found.text, tables), folder)
    await bucket.fetch(REJECTS_FILE, folder)
    for (const path of (await bucket.sizes(`${RUNS_FOLDER}/`)).keys())
      if (isRunReportPath(path)) await bucket.fetch(path, folder)
    return undefined
  } catch (error) {
    return { version: found.version, error }
  }
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
    fix: 'Name the output of a finished run, as in its job file.',
  })
}
