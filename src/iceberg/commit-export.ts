import { hash } from 'node:crypto'
import { join, resolve, sep } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest } from '../core/model/manifest.ts'
import { isManifest } from '../core/model/manifest-schema.ts'
import type { BucketLocation, Job } from '../core/model/model.ts'
import { readTextIfExists } from '../core/platform/disk.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { openBucket } from '../storage/bucket.ts'
import { bucketUrl } from '../storage/bucket-url.ts'
import { folderStore, type Store } from '../storage/store.ts'
import type { Catalog, LakeFiles, LakeReader, TableReader } from './catalog.ts'
import { fileCatalog, fileTableReader } from './file-catalog.ts'
import { readFileStats } from './file-stats.ts'
import { openRestCatalog } from './rest-catalog.ts'
import { syncTables } from './sync-table.ts'

/** The part of a store that commits use. */
export type LakeStore = Pick<
  Store,
  'folder' | 'read' | 'ensureLocal' | 'pathsBelow' | 'create' | 'putText' | 'remove'
>

/** An export whose tables are Iceberg tables. */
export type IcebergExport = {
  store: LakeStore
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
      readStats: async (added, schema) => {
        await target.store.ensureLocal(added)
        const local = new Map(added.map(({ path }) => [join(target.store.folder, path), path]))
        const stats = await readFileStats([...local.keys()], schema)
        return new Map([...stats].map(([path, each]) => [local.get(path) ?? path, each]))
      },
    })
  } catch (error) {
    throw toCatalogError(catalog.name, error)
  }
}

/** Opens the catalog that the manifest names. */
export async function openCatalog(
  { store, location, signal }: IcebergExport,
  { job }: Pick<Manifest, 'job'>,
): Promise<{ catalog: Catalog; files: LakeFiles }> {
  const base = locationOf({ output: store.folder, store: location })
  const files: LakeFiles = {
    base,
    read: (path) => store.read(path).catch(throwUnreadable),
    list: (folder) => store.pathsBelow(folder),
    create: (path, content) => store.create(path, content),
    replace: (path, text) => store.putText(path, text),
    remove: (path) => store.remove(path),
  }
  const { catalog } = job
  return {
    files,
    catalog: catalog === undefined ? fileCatalog(files) : await openRestCatalog(catalog, signal),
  }
}

/**
 * Opens the tables of an export for reading only, also while a run commits to them.
 *
 * @throws CATALOG_FAILED, OUTPUT_FAILED
 */
export async function openTables(
  target: Pick<Job, 'output' | 'store'>,
  { job }: Pick<Manifest, 'job'>,
): Promise<{ catalog: TableReader; files: LakeReader; close: () => void }> {
  const { files, close } = await openReader(target)
  try {
    const catalog = job.catalog === undefined ? fileTableReader(files) : await openRestCatalog(job.catalog)
    return { catalog, files, close }
  } catch (error) {
    close()
    throw error
  }
}

async function openReader(target: Pick<Job, 'output' | 'store'>) {
  const base = locationOf(target)
  if (target.store === undefined) {
    const { read, pathsBelow: list } = folderStore(target.output)
    return {
      files: { base, list, read: (path: string) => read(path).catch(throwUnreadable) },
      close: () => {},
    }
  }
  const bucket = await openBucket(target.store)
  const read = async (path: string) => {
    const content = await bucket.read(path)
    return content ?? throwUnreadable(new Error(`${base}/${path} does not exist`))
  }
  const list = async (folder: string) => [...(await bucket.sizes(`${folder}/`)).keys()]
  return { files: { base, read, list }, close: () => bucket.close() }
}

function throwUnreadable(cause: Error): never {
  throw new ExportError('CATALOG_FAILED', cause.message, {
    cause,
    fix: 'The files of the export are complete. If this file is lost, drop the table from its catalog, or remove its folder metadata: the next run creates the table again, without earlier snapshots.',
  })
}

/** The location of an output in metadata. Readers take it as it is, so it must not be percent-encoded. */
function locationOf({ output, store }: Pick<Job, 'output' | 'store'>): string {
  if (store !== undefined) return bucketUrl(store)
  const path = resolve(output).split(sep).join('/')
  return `file://${path.startsWith('/') ? '' : '/'}${path.replace(/\/$/, '')}`
}

export function toCatalogError(name: string, error: unknown): ExportError {
  if (error instanceof ExportError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new ExportError('CATALOG_FAILED', `${name}: ${reason}`, { cause: error })
}
