import { randomUUID } from 'node:crypto'
import { largest } from '../core/platform/extremes.ts'

/**
 * Table metadata of the Iceberg specification, version 2 (https://iceberg.apache.org/spec/#table-metadata). Field names
 * are those of the specification, because the objects are written as they are.
 */
export type TableMetadata = {
  'format-version': 2
  'table-uuid': string
  location: string
  'last-sequence-number': number
  'last-updated-ms': number
  'last-column-id': number
  schemas: IcebergSchema[]
  'current-schema-id': number
  'partition-specs': PartitionSpec[]
  'default-spec-id': number
  'last-partition-id': number
  'sort-orders': SortOrder[]
  'default-sort-order-id': number
  properties: Record<string, string>
  'current-snapshot-id'?: number
  snapshots: Snapshot[]
  'snapshot-log': { 'snapshot-id': number; 'timestamp-ms': number }[]
  'metadata-log': { 'metadata-file': string; 'timestamp-ms': number }[]
  refs: Record<string, { 'snapshot-id': number; type: 'branch' | 'tag' }>
}

export type IcebergSchema = {
  type: 'struct'
  'schema-id': number
  'identifier-field-ids'?: number[]
  fields: IcebergField[]
}

type IcebergField = { id: number; name: string; required: boolean; type: string; doc?: string }

export type PartitionSpec = {
  'spec-id': number
  fields: { 'source-id': number; 'field-id': number; name: string; transform: string }[]
}

export type SortOrder = {
  'order-id': number
  fields: {
    transform: string
    'source-id': number
    direction: 'asc' | 'desc'
    'null-order': 'nulls-first' | 'nulls-last'
  }[]
}

export type Snapshot = {
  'snapshot-id': number
  'parent-snapshot-id'?: number
  'sequence-number': number
  'timestamp-ms': number
  'manifest-list': string
  summary: Record<string, string> & { operation: 'append' | 'overwrite' | 'delete' | 'replace' }
  'schema-id': number
}

/** A change of table metadata, in the vocabulary of the REST catalog, which takes these objects as they are. */
export type TableUpdate =
  | { action: 'add-schema'; schema: IcebergSchema; 'last-column-id': number }
  | { action: 'set-current-schema'; 'schema-id': number }
  | { action: 'add-spec'; spec: PartitionSpec }
  | { action: 'set-default-spec'; 'spec-id': number }
  | { action: 'set-properties'; updates: Record<string, string> }
  | { action: 'add-snapshot'; snapshot: Snapshot }
  | { action: 'set-snapshot-ref'; 'ref-name': 'main'; type: 'branch'; 'snapshot-id': number }
  | { action: 'remove-snapshots'; 'snapshot-ids': number[] }

/** What a new table starts with: no snapshot yet. */
export type NewTable = Pick<TableMetadata, 'location' | 'properties'> & {
  schema: IcebergSchema
  spec: PartitionSpec
  sortOrder: SortOrder
}

/**
 * Files of earlier metadata that stay after a commit. Each has all snapshots, so that without a limit they would take more
 * space every night: after a year without `expire`, 365 files of up to 400 KB for each table.
 */
export const MAX_PREVIOUS_METADATA = 20

/** First id of partition fields; ids of columns are smaller (specification, "Partitioning"). */
export const FIRST_PARTITION_ID = 1_000

export function createMetadata({ location, properties, schema, spec, sortOrder }: NewTable): TableMetadata {
  return {
    'format-version': 2,
    'table-uuid': randomUUID(),
    location,
    'last-sequence-number': 0,
    'last-updated-ms': Date.now(),
    'last-column-id': lastColumnId(schema),
    schemas: [schema],
    'current-schema-id': schema['schema-id'],
    'partition-specs': [spec],
    'default-spec-id': spec['spec-id'],
    'last-partition-id': lastPartitionId(spec, FIRST_PARTITION_ID - 1),
    'sort-orders': [sortOrder],
    'default-sort-order-id': sortOrder['order-id'],
    properties,
    snapshots: [],
    'snapshot-log': [],
    'metadata-log': [],
    refs: {},
  }
}

const lastPartitionId = ({ fields }: PartitionSpec, before: number): number =>
  largest(
    fields.map((field) => field['field-id']),
    before,
  )

export const lastColumnId = ({ fields }: IcebergSchema): number => largest(fields.map(({ id }) => id))

/** Returns the metadata after a change, as a REST catalog computes it from the same updates. */
export function applyUpdates(before: TableMetadata, updates: readonly TableUpdate[]): TableMetadata {
  return updates.reduce(applyUpdate, { ...before, 'last-updated-ms': Date.now() })
}

function applyUpdate(metadata: TableMetadata, update: TableUpdate): TableMetadata {
  switch (update.action) {
    case 'add-schema':
      return {
        ...metadata,
        schemas: [...metadata.schemas, update.schema],
        'last-column-id': update['last-column-id'],
      }
    case 'set-current-schema':
      return { ...metadata, 'current-schema-id': update['schema-id'] }
    case 'add-spec':
      return {
        ...metadata,
        'partition-specs': [...metadata['partition-specs'], update.spec],
        'last-partition-id': lastPartitionId(update.spec, metadata['last-partition-id']),
      }
    case 'set-default-spec':
      return { ...metadata, 'default-spec-id': update['spec-id'] }
    case 'set-properties':
      return { ...metadata, properties: { ...metadata.properties, ...update.updates } }
    case 'add-snapshot':
      return {
        ...metadata,
        snapshots: [...metadata.snapshots, update.snapshot],
        'last-sequence-number': update.snapshot['sequence-number'],
      }
    case 'set-snapshot-ref': {
      const entry = { 'snapshot-id': update['snapshot-id'], 'timestamp-ms': metadata['last-updated-ms'] }
      return {
        ...metadata,
        'current-snapshot-id': update['snapshot-id'],
        refs: { ...metadata.refs, main: { 'snapshot-id': update['snapshot-id'], type: 'branch' } },
        'snapshot-log': [...metadata['snapshot-log'], entry],
      }
    }
    case 'remove-snapshots': {
      const removed = new Set(update['snapshot-ids'])
      const remains = (entry: { 'snapshot-id': number }) => !removed.has(entry['snapshot-id'])
      return {
        ...metadata,
        snapshots: metadata.snapshots.filter(remains),
        'snapshot-log': metadata['snapshot-log'].filter(remains),
      }
    }
  }
}

/** The snapshot that readers see; undefined in a table without rows yet. */
export function currentSnapshot(metadata: TableMetadata): Snapshot | undefined {
  const id = metadata['current-snapshot-id']
  return metadata.snapshots.find((snapshot) => snapshot['snapshot-id'] === id)
}

export function currentSchema(metadata: TableMetadata): IcebergSchema {
  const schema = metadata.schemas.find((each) => each['schema-id'] === metadata['current-schema-id'])
  if (schema === undefined) throw new Error('the metadata lacks its current schema')
  return schema
}

export function currentSpec(metadata: TableMetadata): PartitionSpec | undefined {
  return metadata['partition-specs'].find((spec) => spec['spec-id'] === metadata['default-spec-id'])
}
