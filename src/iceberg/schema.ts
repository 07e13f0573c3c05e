import type { NumberFormat, PartitionBy } from '../core/model/model.ts'
import { largest } from '../core/platform/extremes.ts'
import { type ColumnType, decimalColumnsOf, fieldIds, type Table } from '../core/table/index.ts'
import {
  FIRST_PARTITION_ID,
  type IcebergSchema,
  type PartitionSpec,
  type SortOrder,
  type TableMetadata,
} from './metadata.ts'

/** Iceberg types of the columns. Exact numbers of more than 64 bits are text, as in the files. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'string',
  int32: 'int',
  int64: 'long',
  bool: 'boolean',
  time: 'timestamptz',
  u256: 'string',
  i256: 'string',
  decimal: 'string',
}

/** The schema of a table, as the next version of `previous`. */
export function schemaOf(
  table: Pick<Table, 'columns'>,
  previous?: IcebergSchema,
  numbers?: NumberFormat,
): IcebergSchema {
  const earlier = new Map(previous?.fields.map((field) => [field.name, field]))
  const ids = fieldIds(table.columns)
  return {
    type: 'struct',
    'schema-id': previous === undefined ? 0 : previous['schema-id'] + 1,
    fields: table.columns
      .map(({ name, type, nullable, about }) => ({
        id: ids.get(name) ?? 0,
        name,
        // A column that is added later is null in the files of earlier snapshots.
        required: !nullable && (previous === undefined || earlier.get(name)?.required === true),
        type: TYPES[type],
        doc: about,
      }))
      .concat(
        decimalColumnsOf(table, numbers).map(({ id, name, precision, scale, about }) => ({
          id,
          name,
          required: false,
          type: `decimal(${precision}, ${scale})`,
          doc: about,
        })),
      ),
  }
}

/** Catalogs may write `decimal(38,0)` for `decimal(38, 0)`. */
export function isSameSchema(left: IcebergSchema, right: IcebergSchema): boolean {
  const typeText = (type: string) => type.replaceAll(' ', '')
  const text = ({ fields }: IcebergSchema) =>
    fields.map(({ id, name, type, required }) => `${id} ${name} ${typeText(type)} ${required}`).join('\n')
  return text(left) === text(right)
}

/** Column names by id for files without ids, such as those that were written before the table was an Iceberg table. */
export function nameMapping({ fields }: IcebergSchema): string {
  return JSON.stringify(fields.map(({ id, name }) => ({ 'field-id': id, names: [name] })))
}

/** Partition fields of a table, by the partitions of its files: one of the specs that it has, or the next one. */
export function partitionSpecOf(
  { fields }: IcebergSchema,
  by: PartitionBy | undefined,
  earlier?: Pick<TableMetadata, 'partition-specs' | 'last-partition-id'>,
): PartitionSpec {
  const specs = earlier?.['partition-specs'] ?? []
  const fieldId = (earlier?.['last-partition-id'] ?? FIRST_PARTITION_ID - 1) + 1
  const next = {
    'spec-id':
      1 +
      largest(
        specs.map((spec) => spec['spec-id']),
        -1,
      ),
    fields: by === undefined ? [] : [partitionField(fields, by, fieldId)],
  }
  const transformsOf = (spec: PartitionSpec) => spec.fields.map(({ transform }) => transform).join()
  return specs.find((spec) => transformsOf(spec) === transformsOf(next)) ?? next
}

function partitionField(
  fields: IcebergSchema['fields'],
  by: PartitionBy,
  id: number,
): PartitionSpec['fields'][number] {
  const isTime = by === 'day' || by === 'month'
  const source = isTime ? 'block_timestamp' : 'block_number'
  const width = by.slice('blocks:'.length)
  return {
    'source-id': fields.find(({ name }) => name === source)?.id ?? 0,
    'field-id': id,
    name: isTime ? `${source}_${by}` : `${source}_trunc_${width}`,
    transform: isTime ? by : `truncate[${width}]`,
  }
}

/** Value of the partition field for a partition folder, such as `day=2023-11-14`: days or months since 1970, or a block. */
export function partitionValue(folder: string): number {
  const [name, text = ''] = folder.split('=')
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number)
  if (name === 'blocks') return year
  if (name === 'month') return (year - 1970) * 12 + month - 1
  return Date.UTC(year, month - 1, day) / 86_400_000
}

/** Rows are in chain order, which begins with the block in every table. */
export function sortOrderOf({ fields }: IcebergSchema): SortOrder {
  const block = fields.find(({ name }) => name === 'block_number')?.id ?? 0
  return {
    'order-id': 1,
    fields: [{ transform: 'identity', 'source-id': block, direction: 'asc', 'null-order': 'nulls-first' }],
  }
}
