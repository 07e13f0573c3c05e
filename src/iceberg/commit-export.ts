import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import { isManifest } from '../core/model/manifest-schema.ts'
import type { BucketLocation } from '../core/model/model.ts'
import { makePrivateFolder, readTextIfExists, writeAtomically } from '../core/platform/disk.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { bucketUrl } from '../storage/bucket-url.ts'
import type { Store } from '../storage/store.ts'
import type { Catalog, LakeFiles } from './catalog.ts'
import { fileCatalog } from './file-catalog.ts'
import { readFileStats } from './file-stats.ts'
import { currentSchema } from './metadata.ts'
import { openRestCatalog } from './rest-catalog.ts'
import { syncTables } from './sync-table.ts'

/** An export whose tables are Iceberg tables. */
export type IcebergExport = {
  store: Store
  /** Location of the export in an object store; undefined for a folder. */
  location: BucketLocation | undefined
  /** Ends requests to the catalog. */
  signal?: AbortSignal | undefined
}

/**
 * Commits what the manifest of an export lists to its Iceberg tables, unless they list it already. Runs call it after the
 * manifest is published, also if nothing is new: a run that was killed in between is completed by the next one.
 *
 * @returns the tables with a new snapshot; none if the tables of the export are plain files
 * @throws CATALOG_FAILED if the catalog does not answer, refuses the commit, or another program commits to the tables
 */
export async function commitToCatalog(
  target: IcebergExport,
  { runId, isRewrite = false }: { runId?: string | undefined; isRewrite?: boolean } = {},
): Promise<readonly string[]> {
  const text = await readTextIfExists(join(target.store.folder, MANIFEST_FILE))
  const manifest = parseJson(text ?? '')
  if (text === undefined || !isManifest(manifest) || manifest.job.table !== 'iceberg') return []
  const { catalog, files } = await openCatalog(target, manifest)
  try {
    return await syncTables({
      catalog,
      files,
      manifest,
      manifestSha256: hash('sha256', text),
      runId,
      isRewrite,
      readStats: async (added, metadata) => {
        await target.store.ensureLocal(added)
        const local = new Map(added.map(({ path }) => [join(target.store.folder, path), path]))
        const stats = await readFileStats([...local.keys()], currentSchema(metadata))
        return new Map([...stats].map(([path, each]) => [local.get(path) ?? path, each]))
      },
    })
  } catch (thrown) {
    throw toCatalogError(catalog.name, thrown)
  }
}

/** Opens the catalog that the manifest names. */
export async function openCatalog(
  { store, location, signal }: IcebergExport,
  { job }: Pick<Manifest, 'job'>,
): Promise<{ catalog: Catalog; files: LakeFiles }> {
  const files = lakeFiles(store, location)
  const { catalog } = job
  return {
    files,
    catalog: catalog === undefined ? fileCatalog(files) : await openRestCatalog(catalog, signal),
  }
}

/** The files of an output, by way of its store. */
function lakeFiles(store: Store, location: BucketLocation | undefined): LakeFiles {
  const base = location === undefined ? pathToFileURL(resolve(store.folder)).href : bucketUrl(location)
  return {
    base: base.replace(/\/$/, ''),
    read: async (path) => readFile(await store.localCopy(path)),
    write: async (path, content) => {
      const folder = join(store.folder, PRIVATE_FOLDER)
      await makePrivateFolder(folder)
      const staged = join(folder, 'iceberg-metadata')
      await writeAtomically(staged, content)
      await store.putFiles([{ path, staged }])
    },
    list: (folder) => store.pathsBelow(folder),
    remove: (path) => store.remove(path),
  }
}

function toCatalogError(name: string, thrown: unknown): ExportError {
  if (thrown instanceof ExportError) return thrown
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new ExportError('CATALOG_FAILED', `${name}: ${reason}`, { cause: thrown })
}
