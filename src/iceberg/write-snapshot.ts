import { randomInt, randomUUID } from 'node:crypto'
import type { ManifestFile as ExportFile } from '../core/model/manifest.ts'
import { largest, smallest } from '../core/platform/extremes.ts'
import type { LakeFiles } from './catalog.ts'
import type { FileStats } from './file-stats.ts'
import { FILES_PROPERTY, type LiveEntry } from './live-files.ts'
import {
  ADDED,
  type DataFile,
  DELETED,
  EXISTING,
  encodeManifest,
  encodeManifestList,
  type ManifestEntry,
  type ManifestFile,
} from './manifest-files.ts'
import type { IcebergSchema, PartitionSpec, Snapshot, TableMetadata } from './metadata.ts'
import { partitionValue } from './schema.ts'

/** What snapshots are written from. */
export type SnapshotSource = {
  files: LakeFiles
  /** SHA-256 of `manifest.json`. */
  manifestSha256: string
  /** Id of the run; undefined if a command other than `run` publishes. */
  runId: string | undefined
  /** Whether the same rows are in other files, as after `compact`. */
  isRewrite: boolean
  /** Reads the statistics of data files by their paths. */
  readStats: (files: readonly ExportFile[], schema: IcebergSchema) => Promise<ReadonlyMap<string, FileStats>>
}

/** The change of a table that a snapshot makes. */
export type TableChange = {
  table: string
  metadata: TableMetadata
  /** Schema and partitions of the new files. */
  schema: IcebergSchema
  spec: PartitionSpec
  manifests: readonly ManifestFile[]
  live: ReadonlyMap<string, LiveEntry>
  added: readonly ExportFile[]
  /** Locations. */
  removed: ReadonlySet<string>
  /** Hash of the files that the snapshot lists. */
  filesSha256: string
}

/** Manifests that a snapshot may have before they are merged: planning reads each of them. */
const MAX_MANIFESTS = 30

/** Writes the manifests and the manifest list of a snapshot. It becomes visible with the commit. */
export async function writeSnapshot(source: SnapshotSource, change: TableChange): Promise<Snapshot> {
  const { files } = source
  const { table, metadata, schema, spec } = change
  const id = randomInt(1, 2 ** 48 - 1)
  const sequenceNumber = metadata['last-sequence-number'] + 1
  const write = writerOf(files, { table, schema, id, sequenceNumber })
  const { kept, rewritten } = splitManifests(change, id)
  const manifests = [...kept]
  for (const earlierSpec of metadata['partition-specs']) {
    const entries = rewritten.get(earlierSpec['spec-id']) ?? []
    if (entries.length > 0) manifests.push(await write(entries, earlierSpec))
  }
  const added = await describeFiles(source, change)
  if (added.length > 0) manifests.push(await write(added.map(asAdded), spec))
  const listPath = `${table}/metadata/snap-${id}-1-${randomUUID()}.avro`
  const parent = metadata['current-snapshot-id']
  const parentId = (parent ?? -1) < 0 ? undefined : parent
  await files.create(listPath, await encodeManifestList(manifests, { id, parent: parentId, sequenceNumber }))
  return {
    'snapshot-id': id,
    ...(parentId === undefined ? {} : { 'parent-snapshot-id': parentId }),
    'sequence-number': sequenceNumber,
    'timestamp-ms': Math.max(Date.now(), metadata['last-updated-ms']),
    'manifest-list': `${files.base}/${listPath}`,
    summary: summaryOf(source, change, added),
    'schema-id': schema['schema-id'],
  }

  function asAdded(data_file: DataFile): ManifestEntry {
    return { status: ADDED, snapshot_id: id, sequence_number: null, file_sequence_number: null, data_file }
  }
}

/** Returns the manifests that stay as they are, and the entries of the others by partition spec. */
function splitManifests({ manifests, live, removed }: TableChange, id: number) {
  const isMerged = manifests.length >= MAX_MANIFESTS
  const entriesOf = new Map<ManifestFile, LiveEntry[]>(manifests.map((manifest) => [manifest, []]))
  for (const entry of live.values()) entriesOf.get(entry.manifest)?.push(entry)
  const kept: ManifestFile[] = []
  const rewritten = new Map<number, ManifestEntry[]>()
  for (const [manifest, entries] of entriesOf) {
    if (entries.length === 0) continue
    if (!isMerged && !entries.some(({ data_file }) => removed.has(data_file.file_path))) {
      kept.push(manifest)
      continue
    }
    const specId = manifest.partition_spec_id
    const ofSpec = rewritten.get(specId) ?? []
    rewritten.set(specId, ofSpec)
    for (const { manifest: _, ...entry } of entries)
      ofSpec.push(
        removed.has(entry.data_file.file_path)
          ? { ...entry, status: DELETED, snapshot_id: id }
          : { ...entry, status: EXISTING },
      )
  }
  return { kept, rewritten }
}

async function describeFiles(
  { files, readStats }: SnapshotSource,
  { added, metadata, schema, spec }: TableChange,
): Promise<DataFile[]> {
  const stats = await readStats(added, schema)
  const none = {
    column_sizes: null,
    value_counts: null,
    null_value_counts: null,
    lower_bounds: null,
    upper_bounds: null,
  }
  return added.map(({ path, rows, bytes }) => {
    const folder = path.split('/').at(-2) ?? ''
    return {
      content: 0,
      file_path: `${files.base}/${path}`,
      file_format: 'PARQUET',
      partition: Object.fromEntries(spec.fields.map(({ name }) => [name, partitionValue(folder)])),
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
  {
    table,
    schema,
    id,
    sequenceNumber,
  }: { table: string; schema: IcebergSchema; id: number; sequenceNumber: number },
) {
  return async (entries: readonly ManifestEntry[], spec: PartitionSpec): Promise<ManifestFile> => {
    const path = `${table}/metadata/${randomUUID()}-m0.avro`
    const content = await encodeManifest(entries, { schema, spec })
    await files.create(path, content)
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

/** Property of snapshots: the SHA-256 of the manifest whose files they list. */
const MANIFEST_PROPERTY = 'walletlake.manifest-sha256'

function summaryOf(
  { manifestSha256, runId, isRewrite }: SnapshotSource,
  { live, removed, filesSha256 }: TableChange,
  added: readonly DataFile[],
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
    [FILES_PROPERTY]: filesSha256,
    ...(runId === undefined ? {} : { 'walletlake.run-id': runId }),
  }
}
