import { randomInt, randomUUID } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import type { ManifestFile as ExportFile, Manifest } from '../core/model/manifest.ts'
import { largest, smallest } from '../core/platform/extremes.ts'
import { type Table, tableByName } from '../core/table/index.ts'
import { type Catalog, type LakeFiles, pathOf } from './catalog.ts'
import type { FileStats } from './file-stats.ts'
import {
  ADDED,
  type DataFile,
  DELETED,
  decodeManifest,
  decodeManifestList,
  EXISTING,
  encodeManifest,
  encodeManifestList,
  type ManifestEntry,
  type ManifestFile,
} from './manifest-files.ts'
import {
  currentSchema,
  currentSnapshot,
  lastColumnId,
  type Snapshot,
  type TableMetadata,
  type TableUpdate,
} from './metadata.ts'
import {
  isSameSchema,
  nameMapping,
  partitionSpecOf,
  partitionValue,
  schemaOf,
  sortOrderOf,
} from './schema.ts'

export type SyncOptions = {
  catalog: Catalog
  files: LakeFiles
  manifest: Manifest
  /** SHA-256 of `manifest.json`. */
  manifestSha256: string
  /** Id of the run; undefined if a command other than `run` publishes. */
  runId: string | undefined
  /** Whether the same rows are in other files, as after `compact`. */
  isRewrite: boolean
  /** Reads the statistics of data files by their paths. */
  readStats: (files: readonly ExportFile[], table: TableMetadata) => Promise<ReadonlyMap<string, FileStats>>
}

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
    if (
      await syncTable(
        options,
        table,
        metadata,
        files.filter(({ rows }) => rows > 0),
      )
    )
      changed.push(name)
  }
  return changed
}

/** Property of snapshots: the SHA-256 of the manifest whose files they list. */
const MANIFEST_PROPERTY = 'walletlake.manifest-sha256'

async function openTable({ catalog, files, manifest }: SyncOptions, table: Table): Promise<TableMetadata> {
  const loaded = await catalog.load(table.name)
  if (loaded !== undefined) return loaded
  const schema = schemaOf(table)
  return catalog.create(table.name, {
    location: `${files.base}/${table.name}`,
    schema,
    spec: partitionSpecOf(schema, manifest.job.partitionBy),
    sortOrder: sortOrderOf(schema),
    properties: {
      'schema.name-mapping.default': nameMapping(schema),
      'write.format.default': 'parquet',
      comment: table.about,
    },
  })
}

async function syncTable(
  options: SyncOptions,
  table: Table,
  metadata: TableMetadata,
  target: readonly ExportFile[],
): Promise<boolean> {
  const { catalog, files } = options
  requireOwnSnapshot(table.name, currentSnapshot(metadata))
  const previous = currentSchema(metadata)
  const schema = schemaOf(table, previous)
  const isEvolved = !isSameSchema(schema, previous)
  const manifests = await readManifestList(files, metadata)
  const live = await liveEntries(files, manifests)
  const wanted = new Map(target.map((file) => [`${files.base}/${file.path}`, file]))
  const added = [...wanted].filter(([uri]) => !live.has(uri)).map(([, file]) => file)
  const removed = new Set([...live.keys()].filter((uri) => !wanted.has(uri)))
  if (added.length === 0 && removed.size === 0 && !isEvolved) return false
  const evolution: TableUpdate[] = isEvolved
    ? [
        {
          action: 'add-schema',
          schema,
          'last-column-id': Math.max(metadata['last-column-id'], lastColumnId(schema)),
        },
        { action: 'set-current-schema', 'schema-id': schema['schema-id'] },
        { action: 'set-properties', updates: { 'schema.name-mapping.default': nameMapping(schema) } },
      ]
    : []
  const snapshot = await writeSnapshot(options, {
    metadata,
    schema: isEvolved ? schema : previous,
    manifests,
    live,
    added,
    removed,
    table: table.name,
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

/** The rows of a snapshot that another program wrote would be lost by the next one. */
function requireOwnSnapshot(table: string, snapshot: Snapshot | undefined): void {
  if (snapshot === undefined || snapshot.summary[MANIFEST_PROPERTY] !== undefined) return
  throw new ExportError(
    'CATALOG_FAILED',
    `table ${table}: another program has written its current snapshot (${snapshot['snapshot-id']})`,
    {
      fix: 'The files of the export are complete. Roll the table back to the last snapshot of walletlake, or drop it: the next run creates it again.',
    },
  )
}

export async function readManifestList(files: LakeFiles, metadata: TableMetadata): Promise<ManifestFile[]> {
  const snapshot = currentSnapshot(metadata)
  if (snapshot === undefined) return []
  return decodeManifestList(await files.read(pathOf(files, snapshot['manifest-list'])))
}

/** An entry of a manifest that is part of the snapshot, with inherited numbers filled in, and where it was read. */
export type LiveEntry = ManifestEntry & { manifest: string }

/** The data files of a snapshot by their URIs. */
export async function liveEntries(
  files: LakeFiles,
  manifests: readonly ManifestFile[],
): Promise<Map<string, LiveEntry>> {
  const live = new Map<string, LiveEntry>()
  for (const list of manifests) {
    for (const entry of await decodeManifest(await files.read(pathOf(files, list.manifest_path)))) {
      if (entry.status === DELETED) continue
      live.set(entry.data_file.file_path, {
        ...entry,
        snapshot_id: entry.snapshot_id ?? list.added_snapshot_id,
        sequence_number: entry.sequence_number ?? list.sequence_number,
        file_sequence_number: entry.file_sequence_number ?? list.sequence_number,
        manifest: list.manifest_path,
      })
    }
  }
  return live
}

/** Manifests that a snapshot may have before they are merged: planning reads each of them. */
const MAX_MANIFESTS = 30

type Change = {
  table: string
  metadata: TableMetadata
  schema: TableMetadata['schemas'][number]
  manifests: readonly ManifestFile[]
  live: ReadonlyMap<string, LiveEntry>
  added: readonly ExportFile[]
  /** URIs. */
  removed: ReadonlySet<string>
}

async function writeSnapshot(options: SyncOptions, change: Change): Promise<Snapshot> {
  const { files } = options
  const { table, metadata, live, removed } = change
  const id = randomInt(1, 2 ** 48 - 1)
  const sequenceNumber = metadata['last-sequence-number'] + 1
  const write = writerOf(files, { ...change, id, sequenceNumber })
  const isMerged = change.manifests.length >= MAX_MANIFESTS
  const manifests: ManifestFile[] = []
  const rewritten: ManifestEntry[] = []
  for (const list of change.manifests) {
    const entries = [...live.values()].filter(({ manifest }) => manifest === list.manifest_path)
    const isTouched = entries.some(({ data_file }) => removed.has(data_file.file_path))
    if (!isTouched && !isMerged) {
      if (entries.length > 0) manifests.push(list)
      continue
    }
    for (const { manifest: _, ...entry } of entries)
      rewritten.push(
        removed.has(entry.data_file.file_path)
          ? { ...entry, status: DELETED, snapshot_id: id }
          : { ...entry, status: EXISTING },
      )
  }
  if (rewritten.length > 0) manifests.push(await write(rewritten))
  const addedFiles = await describeFiles(options, change)
  if (addedFiles.length > 0) manifests.push(await write(addedFiles.map(asAdded)))
  const listPath = `${table}/metadata/snap-${id}-1-${randomUUID()}.avro`
  const parent = metadata['current-snapshot-id']
  const parentId = (parent ?? -1) < 0 ? undefined : parent
  await files.write(listPath, await encodeManifestList(manifests, { id, parent: parentId, sequenceNumber }))
  return {
    'snapshot-id': id,
    ...(parentId === undefined ? {} : { 'parent-snapshot-id': parentId }),
    'sequence-number': sequenceNumber,
    'timestamp-ms': Math.max(Date.now(), metadata['last-updated-ms']),
    'manifest-list': `${files.base}/${listPath}`,
    summary: summaryOf(options, { live, added: addedFiles, removed }),
    'schema-id': change.schema['schema-id'],
  }

  function asAdded(data_file: DataFile): ManifestEntry {
    return { status: ADDED, snapshot_id: id, sequence_number: null, file_sequence_number: null, data_file }
  }
}

async function describeFiles(
  { files, readStats }: SyncOptions,
  { added, metadata, schema }: Change,
): Promise<DataFile[]> {
  const stats = await readStats(added, {
    ...metadata,
    schemas: [schema],
    'current-schema-id': schema['schema-id'],
  })
  const spec = metadata['partition-specs'].find((each) => each['spec-id'] === metadata['default-spec-id'])
  return added.map(({ path, rows, bytes }) => {
    const none = {
      column_sizes: null,
      value_counts: null,
      null_value_counts: null,
      lower_bounds: null,
      upper_bounds: null,
    }
    const folder = path.split('/').at(-2) ?? ''
    return {
      content: 0,
      file_path: `${files.base}/${path}`,
      file_format: 'PARQUET',
      partition: Object.fromEntries((spec?.fields ?? []).map(({ name }) => [name, partitionValue(folder)])),
      record_count: rows,
      file_size_in_bytes: bytes,
      ...(stats.get(path) ?? none),
      sort_order_id: metadata['default-sort-order-id'],
    }
  })
}

/** Writes manifests of a snapshot, and describes them for its list. */
function writerOf(
  files: LakeFiles,
  { table, metadata, schema, id, sequenceNumber }: Change & { id: number; sequenceNumber: number },
) {
  const spec = metadata['partition-specs'].find((each) => each['spec-id'] === metadata['default-spec-id'])
  if (spec === undefined) throw new Error(`${table}: the metadata lacks its partition spec`)
  return async (entries: readonly ManifestEntry[]): Promise<ManifestFile> => {
    const path = `${table}/metadata/${randomUUID()}-m0.avro`
    const content = await encodeManifest(entries, { schema, spec })
    await files.write(path, content)
    const of = (status: number) => entries.filter((entry) => entry.status === status)
    const rowsOf = (status: number) =>
      of(status).reduce((sum, { data_file }) => sum + data_file.record_count, 0)
    const isLive = ({ status }: ManifestEntry) => status !== DELETED
    const sequenceNumbers = entries.filter(isLive).map((entry) => entry.sequence_number ?? sequenceNumber)
    return {
      manifest_path: `${files.base}/${path}`,
      manifest_length: content.length,
      partition_spec_id: spec['spec-id'],
      content: 0,
      sequence_number: sequenceNumber,
      min_sequence_number: smallest(sequenceNumbers, sequenceNumber),
      added_snapshot_id: id,
      added_files_count: of(ADDED).length,
      existing_files_count: of(EXISTING).length,
      deleted_files_count: of(DELETED).length,
      added_rows_count: rowsOf(ADDED),
      existing_rows_count: rowsOf(EXISTING),
      deleted_rows_count: rowsOf(DELETED),
      partitions: spec.fields.map(({ name, transform }) =>
        boundsOf(
          entries.map(({ data_file }) => data_file.partition[name] ?? 0),
          transform,
        ),
      ),
    }
  }
}

function boundsOf(values: readonly number[], transform: string) {
  const encode = (value: number) => {
    if (transform === 'day' || transform === 'month') {
      const bytes = Buffer.alloc(4)
      bytes.writeInt32LE(value)
      return bytes
    }
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(value))
    return bytes
  }
  const [lowest, highest] = [smallest(values), largest(values)]
  return { contains_null: false, lower_bound: encode(lowest), upper_bound: encode(highest) }
}

function summaryOf(
  { manifestSha256, runId, isRewrite }: SyncOptions,
  {
    live,
    added,
    removed,
  }: { live: Change['live']; added: readonly DataFile[]; removed: ReadonlySet<string> },
): Snapshot['summary'] {
  const before = [...live.values()].map(({ data_file }) => data_file)
  const gone = before.filter(({ file_path }) => removed.has(file_path))
  const after = [...before.filter(({ file_path }) => !removed.has(file_path)), ...added]
  const rows = (all: readonly DataFile[]) =>
    String(all.reduce((sum, { record_count }) => sum + record_count, 0))
  const bytes = (all: readonly DataFile[]) =>
    String(all.reduce((sum, { file_size_in_bytes: size }) => sum + size, 0))
  const changes = gone.length === 0 ? 'append' : added.length === 0 ? 'delete' : 'overwrite'
  return {
    operation: isRewrite ? 'replace' : changes,
    'added-data-files': String(added.length),
    'deleted-data-files': String(gone.length),
    'added-records': rows(added),
    'deleted-records': rows(gone),
    'added-files-size': bytes(added),
    'removed-files-size': bytes(gone),
    'total-data-files': String(after.length),
    'total-records': rows(after),
    'total-files-size': bytes(after),
    'total-delete-files': '0',
    'total-position-deletes': '0',
    'total-equality-deletes': '0',
    [MANIFEST_PROPERTY]: manifestSha256,
    ...(runId === undefined ? {} : { 'walletlake.run-id': runId }),
  }
}
