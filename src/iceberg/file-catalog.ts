import { largest } from '../core/platform/extremes.ts'
import type { Catalog, LakeFiles } from './catalog.ts'
import { applyUpdates, createMetadata, type TableMetadata } from './metadata.ts'

/**
 * The catalog that needs no service: `metadata/vN.metadata.json` of each table, where the highest N is current, and
 * `version-hint.text`, which states it for readers (the layout of HadoopTables). The lock of the output keeps others from
 * committing at the same time.
 */
export function fileCatalog(files: LakeFiles): Catalog {
  const load = async (table: string) => {
    const version = await currentVersion(files, table)
    if (version === 0) return undefined
    return JSON.parse((await files.read(metadataPath(table, version))).toString()) as TableMetadata
  }
  const write = async (table: string, version: number, metadata: TableMetadata) => {
    await files.write(metadataPath(table, version), Buffer.from(JSON.stringify(metadata)))
    await files.write(`${table}/metadata/version-hint.text`, Buffer.from(String(version)))
    return metadata
  }
  return {
    name: files.base,
    load,
    create: (table, content) => write(table, 1, createMetadata(content)),
    commit: async (table, loaded, updates) => {
      const version = await currentVersion(files, table)
      const previous = {
        'metadata-file': `${files.base}/${metadataPath(table, version)}`,
        'timestamp-ms': loaded['last-updated-ms'],
      }
      const updated = applyUpdates(loaded, updates)
      const log = [...loaded['metadata-log'], previous].slice(-MAX_LOGGED)
      return write(table, version + 1, { ...updated, 'metadata-log': log })
    },
  }
}

/** Entries of the log of earlier metadata files, as many as other writers keep by default. */
const MAX_LOGGED = 100

const metadataPath = (table: string, version: number) => `${table}/metadata/v${version}.metadata.json`

/** The version of the newest metadata, 0 if there is none. A run that was killed may not have written the hint. */
async function currentVersion(files: LakeFiles, table: string): Promise<number> {
  const paths = await files.list(`${table}/metadata`)
  return largest(
    paths.map((path) => Number(/\/v(\d+)\.metadata\.json$/.exec(path)?.[1] ?? 0)),
    0,
  )
}
