import { ExportError } from '../core/model/errors.ts'
import type { ManifestFile as ExportFile, Manifest } from '../core/model/manifest.ts'
import { type Table, tableByName } from '../core/table/index.ts'
import type { Catalog } from './catalog.ts'
import { FILES_PROPERTY, filesWithRows, hashFiles, liveEntries, readManifestList } from './live-files.ts'
import {
  currentSchema,
  currentSnapshot,
  currentSpec,
  lastColumnId,
  MAX_PREVIOUS_METADATA,
  type Snapshot,
  type TableMetadata,
  type TableUpdate,
} from './metadata.ts'
import { isSameSchema, nameMapping, partitionSpecOf, schemaOf, sortOrderOf } from './schema.ts'
import { type SnapshotSource, writeSnapshot } from './write-snapshot.ts'

export type SyncOptions = SnapshotSource & { catalog: Catalog; manifest: Manifest }

/**
 * Makes the current snapshot of each table list the files of the manifest: one snapshot per table whose files changed.
 * A table that is up to date is not touched, so that a run after a crash repairs what an earlier one did not commit.
 *
 * @returns the tables with a new snapshot
 * @throws CATALOG_FAILED if another program commits to a table
 */
export async function syncTables(options: SyncOptions): Promise<string[]> {
  const changed: string[] = []
  for (const [name, { files }] of Object.entries(options.manifest.tables)) {
    const table = tableByName(name as Table['name'])
    const metadata = await openTable(options, table)
    if (await syncTable(options, { table, metadata, target: filesWithRows(files) })) changed.push(name)
  }
  return changed
}

/** Property of a table: the location of the export that it mirrors. Catalogs may change the location of a table. */
const EXPORT_PROPERTY = 'walletlake.export'

async function openTable({ catalog, files, manifest }: SyncOptions, table: Table): Promise<TableMetadata> {
  const loaded = await catalog.load(table.name)
  if (loaded !== undefined) {
    requireOwnTable(table.name, { catalog, files, metadata: loaded })
    return loaded
  }
  const schema = schemaOf(table, undefined, manifest.job.numbers)
  return catalog.create(table.name, {
    location: `${files.base}/${table.name}`,
    schema,
    spec: partitionSpecOf(schema, manifest.job.partitionBy),
    sortOrder: sortOrderOf(schema),
    properties: {
      [EXPORT_PROPERTY]: files.base,
      'schema.name-mapping.default': nameMapping(schema),
      'write.format.default': 'parquet',
      'write.metadata.delete-after-commit.enabled': 'true',
      'write.metadata.previous-versions-max': String(MAX_PREVIOUS_METADATA),
      comment: table.about,
    },
  })
}

type OpenedTable = Pick<SyncOptions, 'catalog' | 'files'> & { metadata: TableMetadata }

/** Two exports that commit to one table would remove each other's rows from it. */
function requireOwnTable(table: string, { catalog, files, metadata }: OpenedTable): void {
  const mirrored = metadata.properties[EXPORT_PROPERTY]
  if (mirrored === files.base) return
  const owner = mirrored === undefined ? 'was not created by walletlake' : `is that of the export ${mirrored}`
  const fix =
    catalog.name === files.base
      ? `Locations in Iceberg tables are absolute: move the export back, or remove ${table}/metadata: the next run creates the table again, without earlier snapshots.`
      : 'Give each export a namespace of its own (catalog.namespace). If this one was moved, drop the table: the next run creates it again, without earlier snapshots.'
  throw new ExportError('CATALOG_FAILED', `${catalog.name}: table ${table} ${owner}`, {
    fix: `The files of the export are complete. ${fix}`,
  })
}

/** What a table must become. */
type TableTarget = { table: Table; metadata: TableMetadata; target: readonly ExportFile[] }

async function syncTable(options: SyncOptions, { table, metadata, target }: TableTarget): Promise<boolean> {
  const { catalog, files, manifest } = options
  const current = currentSnapshot(metadata)
  requireOwnSnapshot(table.name, current)
  const previous = currentSchema(metadata)
  const next = schemaOf(table, previous, manifest.job.numbers)
  const schema = isSameSchema(next, previous) ? previous : next
  const spec = partitionSpecOf(schema, manifest.job.partitionBy, metadata)
  const evolution = [...schemaUpdates(metadata, schema), ...specUpdates(metadata, spec)]
  const filesSha256 = hashFiles(target)
  if (current?.summary[FILES_PROPERTY] === filesSha256 && evolution.length === 0) return false
  const manifests = await readManifestList(files, current)
  const live = await liveEntries(files, manifests)
  const wanted = new Map(target.map((file) => [`${files.base}/${file.path}`, file]))
  const added = [...wanted].filter(([location]) => !live.has(location)).map(([, file]) => file)
  const removed = new Set([...live.keys()].filter((location) => !wanted.has(location)))
  if (added.length + removed.size + evolution.length === 0) return false
  const snapshot = await writeSnapshot(options, {
    table: table.name,
    metadata,
    schema,
    spec,
    manifests,
    live,
    added,
    removed,
    filesSha256,
  })
  await catalog.commit(table.name, metadata, [
    ...evolution,
    { action: 'add-snapshot', snapshot },
    {
      action: 'set-snapshot-ref',
      'ref-name': 'main',
      type: 'branch',
      'snapshot-id': snapshot['snapshot-id'],
    },
  ])
  return true
}

function schemaUpdates(metadata: TableMetadata, schema: TableMetadata['schemas'][number]): TableUpdate[] {
  if (schema === currentSchema(metadata)) return []
  const lastId = Math.max(metadata['last-column-id'], lastColumnId(schema))
  return [
    { action: 'add-schema', schema, 'last-column-id': lastId },
    { action: 'set-current-schema', 'schema-id': schema['schema-id'] },
    { action: 'set-properties', updates: { 'schema.name-mapping.default': nameMapping(schema) } },
  ]
}

function specUpdates(metadata: TableMetadata, spec: TableMetadata['partition-specs'][number]): TableUpdate[] {
  if (spec === currentSpec(metadata)) return []
  const isNew = !metadata['partition-specs'].includes(spec)
  return [
    ...(isNew ? [{ action: 'add-spec' as const, spec }] : []),
    { action: 'set-default-spec', 'spec-id': spec['spec-id'] },
  ]
}

/** The rows of a snapshot that another program wrote would be lost by the next one. */
function requireOwnSnapshot(table: string, snapshot: Snapshot | undefined): void {
  if (snapshot === undefined || snapshot.summary[FILES_PROPERTY] !== undefined) return
  throw new ExportError(
    'CATALOG_FAILED',
    `table ${table}: another program has written its current snapshot (${snapshot['snapshot-id']})`,
    {
      fix: 'The files of the export are complete. Roll the table back to the last snapshot of walletlake, or drop it: the next run creates it again.',
    },
  )
}
