import { largest } from '../core/platform/extremes.ts'
import { type Catalog, conflictError, type LakeFiles, type LakeReader, type TableReader } from './catalog.ts'
import { applyUpdates, createMetadata, MAX_PREVIOUS_METADATA, type TableMetadata } from './metadata.ts'

/**
 * The catalog that needs no service: `metadata/vN.metadata.json` of each table, where the highest N is current, and
 * `version-hint.text`, which states it for readers (the layout of HadoopTables). A commit creates the next version, which
 * only one writer can: in a folder by a hard link, in an object store by a conditional write.
 */
export function fileCatalog(files: LakeFiles): Catalog {
  /** The versions that this process has read or written last. */
  const versions = new Map<string, number>()
  const write = async (table: string, version: number, metadata: TableMetadata) => {
    if (!(await files.create(metadataPath(table, version), Buffer.from(JSON.stringify(metadata)))))
      throw conflictError(files.base, table)
    versions.set(table, version)
    await files.replace(hintPath(table), String(version))
    return metadata
  }
  return {
    name: files.base,
    load: async (table) => {
      const version = await currentVersion(files, table)
      versions.set(table, version)
      if (version === 0) return undefined
      await repairHint(files, table, version)
      return readMetadata(files, table, version)
    },
    create: (table, content) => write(table, 1, createMetadata(content)),
    commit: async (table, loaded, updates) => {
      const version = versions.get(table) ?? (await currentVersion(files, table))
      const previous = {
        'metadata-file': `${files.base}/${metadataPath(table, version)}`,
        'timestamp-ms': loaded['last-updated-ms'],
      }
      const log = [...loaded['metadata-log'], previous].slice(-MAX_PREVIOUS_METADATA)
      const updated = { ...applyUpdates(loaded, updates), 'metadata-log': log }
      const committed = await write(table, version + 1, updated)
      await removeOldMetadata(files, table, version + 1 - MAX_PREVIOUS_METADATA)
      return committed
    },
  }
}

/** Reads tables of the file catalog without changing anything. */
export function fileTableReader(files: LakeReader): TableReader {
  return {
    name: files.base,
    load: async (table) => {
      const version = await currentVersion(files, table)
      return version === 0 ? undefined : readMetadata(files, table, version)
    },
  }
}

const metadataPath = (table: string, version: number) => `${table}/metadata/v${version}.metadata.json`
const hintPath = (table: string) => `${table}/metadata/version-hint.text`

/** The version that a path states, 0 if it is no metadata. */
export const versionOf = (path: string): number => Number(/\/v(\d+)\.metadata\.json$/.exec(path)?.[1] ?? 0)

/** The version of the newest metadata, 0 if there is none. A run that was killed may not have written the hint. */
async function currentVersion(files: LakeReader, table: string): Promise<number> {
  return largest((await files.list(`${table}/metadata`)).map(versionOf), 0)
}

async function readMetadata(files: LakeReader, table: string, version: number): Promise<TableMetadata> {
  return JSON.parse((await files.read(metadataPath(table, version))).toString())
}

/** Completes a commit after which a process was killed: readers that trust the hint would stay at the version before. */
async function repairHint(files: LakeFiles, table: string, version: number): Promise<void> {
  const hint = await files.read(hintPath(table)).catch(() => '')
  if (hint.toString() !== String(version)) await files.replace(hintPath(table), String(version))
}

/** Removes metadata that the log no longer names, and what a kill has left of it. */
async function removeOldMetadata(files: LakeFiles, table: string, first: number): Promise<void> {
  const paths = await files.list(`${table}/metadata`)
  for (const path of paths) if (versionOf(path) > 0 && versionOf(path) < first) await files.remove(path)
}
