import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { requireManifest } from '../read/dataset.ts'
import { inspectStore, openStore } from '../storage/open-store.ts'
import { openCatalog, toCatalogError } from './commit-export.ts'
import { type Expired, type ExpireOptions, expireSnapshots } from './expire.ts'

/**
 * Removes old snapshots of the Iceberg tables of an export, and the files that only they refer to.
 *
 * @param target the output folder, or an object store location with its local work folder
 * @param options `beforeMs`: snapshots that are older go, milliseconds since 1970; `isDryRun`: only report
 * @throws USAGE if the tables of the export are plain files; OUTPUT_LOCKED; CATALOG_FAILED
 */
export async function expireOutput(
  target: Pick<Job, 'output' | 'store'>,
  options: ExpireOptions,
): Promise<Expired> {
  await inspectStore(target)
  const manifest = await requireManifest(target.output)
  if (manifest.job.table !== 'iceberg')
    throw new ExportError('USAGE', 'the tables of this export are plain files, without snapshots', {
      fix: 'Snapshots exist in exports of jobs with table: iceberg. compact merges small files of any export.',
    })
  const release = await lockOutput(join(target.output, PRIVATE_FOLDER))
  try {
    const store = await openStore(target)
    try {
      const opened = await openCatalog({ store, location: target.store }, manifest)
      return await expireSnapshots(opened, manifest, options).catch((error: unknown) => {
        throw toCatalogError(opened.catalog.name, error)
      })
    } finally {
      await store.close()
    }
  } finally {
    await release()
  }
}
