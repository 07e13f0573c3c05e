import { buffer } from 'node:stream/consumers'
import avro, { type Schema, type Type } from 'avsc'
import type { IcebergSchema, PartitionSpec } from './metadata.ts'

/** Counts or bounds by column id, in the notation that Avro has for maps with integer keys. */
export type ByColumn<Value> = { key: number; value: Value }[]

/** A data file (specification, "Manifests"). */
export type DataFile = {
  content: number
  /** URI. */
  file_path: string
  file_format: string
  partition: Record<string, number>
  record_count: number
  file_size_in_bytes: number
  column_sizes: ByColumn<number> | null
  value_counts: ByColumn<number> | null
  null_value_counts: ByColumn<number> | null
  lower_bounds: ByColumn<Buffer> | null
  upper_bounds: ByColumn<Buffer> | null
  sort_order_id: number | null
}

export const EXISTING = 0
export const ADDED = 1
export const DELETED = 2

/** An entry of a manifest. The sequence numbers of added files are those of the snapshot, and are not written. */
export type ManifestEntry = {
  status: typeof EXISTING | typeof ADDED | typeof DELETED
  snapshot_id: number | null
  sequence_number: number | null
  file_sequence_number: number | null
  data_file: DataFile
}

/** An entry of a manifest list: a manifest and what it contains. */
export type ManifestFile = {
  /** URI. */
  manifest_path: string
  manifest_length: number
  partition_spec_id: number
  content: number
  sequence_number: number
  min_sequence_number: number
  added_snapshot_id: number
  added_files_count: number
  existing_files_count: number
  deleted_files_count: number
  added_rows_count: number
  existing_rows_count: number
  deleted_rows_count: number
  partitions: { contains_null: boolean; lower_bound: Buffer | null; upper_bound: Buffer | null }[] | null
}

type AvroType = Schema
const field = (id: number, name: string, type: AvroType) => ({ name, type, 'field-id': id })
const optional = (id: number, name: string, type: AvroType) => ({
  ...field(id, name, ['null', type] as Schema),
  default: null,
})
const record = (name: string, fields: ReturnType<typeof field>[]) => ({
  type: 'record' as const,
  name,
  fields,
})

function mapOf(keyId: number, valueId: number, value: AvroType) {
  const items = record(`k${keyId}_v${valueId}`, [field(keyId, 'key', 'int'), field(valueId, 'value', value)])
  return { type: 'array' as const, items, logicalType: 'map' }
}

function listOf(elementId: number, items: AvroType) {
  return { type: 'array' as const, items, 'element-id': elementId }
}

function entrySchema({ fields }: PartitionSpec): Schema {
  const values = fields.map(({ 'field-id': id, name, transform }) =>
    optional(id, name, transform === 'day' ? DATE : transform === 'month' ? 'int' : 'long'),
  )
  const dataFile = record('r2', [
    field(134, 'content', 'int'),
    field(100, 'file_path', 'string'),
    field(101, 'file_format', 'string'),
    field(102, 'partition', record('r102', values)),
    field(103, 'record_count', 'long'),
    field(104, 'file_size_in_bytes', 'long'),
    optional(108, 'column_sizes', mapOf(117, 118, 'long')),
    optional(109, 'value_counts', mapOf(119, 120, 'long')),
    optional(110, 'null_value_counts', mapOf(121, 122, 'long')),
    optional(125, 'lower_bounds', mapOf(126, 127, 'bytes')),
    optional(128, 'upper_bounds', mapOf(129, 130, 'bytes')),
    optional(140, 'sort_order_id', 'int'),
  ])
  return record('manifest_entry', [
    field(0, 'status', 'int'),
    optional(1, 'snapshot_id', 'long'),
    optional(3, 'sequence_number', 'long'),
    optional(4, 'file_sequence_number', 'long'),
    field(2, 'data_file', dataFile),
  ])
}

/** Partitions by day are dates; avsc needs no logical type to write their days since 1970. */
const DATE = { type: 'int' as const, logicalType: 'date' }

const SUMMARY = record('r508', [
  field(509, 'contains_null', 'boolean'),
  optional(510, 'lower_bound', 'bytes'),
  optional(511, 'upper_bound', 'bytes'),
])

const LIST_SCHEMA = record('manifest_file', [
  field(500, 'manifest_path', 'string'),
  field(501, 'manifest_length', 'long'),
  field(502, 'partition_spec_id', 'int'),
  field(517, 'content', 'int'),
  field(515, 'sequence_number', 'long'),
  field(516, 'min_sequence_number', 'long'),
  field(503, 'added_snapshot_id', 'long'),
  field(504, 'added_files_count', 'int'),
  field(505, 'existing_files_count', 'int'),
  field(506, 'deleted_files_count', 'int'),
  field(512, 'added_rows_count', 'long'),
  field(513, 'existing_rows_count', 'long'),
  field(514, 'deleted_rows_count', 'long'),
  optional(507, 'partitions', listOf(508, SUMMARY)),
])

/** Encodes a manifest of data files. */
export function encodeManifest(
  entries: readonly ManifestEntry[],
  { schema, spec }: { schema: IcebergSchema; spec: PartitionSpec },
): Promise<Buffer> {
  return encodeAvro(entrySchema(spec), entries, {
    schema: JSON.stringify(schema),
    'schema-id': String(schema['schema-id']),
    'partition-spec': JSON.stringify(spec.fields),
    'partition-spec-id': String(spec['spec-id']),
    'format-version': '2',
    content: 'data',
  })
}

export const decodeManifest = (content: Buffer): Promise<ManifestEntry[]> => decodeAvro(content)

/** Encodes a manifest list. */
export function encodeManifestList(
  manifests: readonly ManifestFile[],
  snapshot: { id: number; parent: number | undefined; sequenceNumber: number },
): Promise<Buffer> {
  return encodeAvro(LIST_SCHEMA, manifests, {
    'snapshot-id': String(snapshot.id),
    'parent-snapshot-id': String(snapshot.parent ?? null),
    'sequence-number': String(snapshot.sequenceNumber),
    'format-version': '2',
  })
}

export const decodeManifestList = (content: Buffer): Promise<ManifestFile[]> => decodeAvro(content)

/**
 * Writes an Avro object container file.
 *
 * @param schema written as it is, with the field ids that Iceberg needs
 * @param metadata further entries of the header
 */
function encodeAvro(
  schema: Schema,
  records: readonly object[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const header = Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, Buffer.from(text)]))
  const options = { codec: 'deflate', metadata: header, writeHeader: true }
  const encoder = new avro.streams.BlockEncoder(schema, options)
  // Without a listener, a record of another shape would be dropped.
  encoder.on('typeError', (cause: Error) => encoder.destroy(cause))
  for (const record of records) encoder.write(record)
  encoder.end()
  return buffer(encoder)
}

/** Types by schema. A commit reads dozens of files of a few schemas, and compiling one takes longer than reading a file. */
const types = new Map<string, Type>()

function typeOf(schema: Schema): Type {
  const key = JSON.stringify(schema)
  const type = types.get(key) ?? avro.Type.forSchema(schema)
  types.set(key, type)
  return type
}

/** Reads all records of an Avro object container file. Throws if one has an integer beyond 2^53. */
async function decodeAvro<Content>(content: Buffer): Promise<Content[]> {
  const decoder = new avro.streams.BlockDecoder({ parseHook: typeOf })
  const records: Content[] = []
  decoder.on('data', (record: Content) => records.push(record))
  decoder.end(content)
  await new Promise((resolve, reject) => decoder.on('end', resolve).on('error', reject))
  return records
}
