import { quoteLiteral } from '../core/platform/sql.ts'
import type { Column, ColumnType } from '../core/table/index.ts'
import type { ColumnMismatch, SqlQuery } from './format.ts'

/** Finds the first column of a Parquet file whose name, position or physical type differs from the contract. */
export async function findSchemaMismatch(
  { path, columns }: { path: string; columns: readonly Column[] },
  query: SqlQuery,
): Promise<ColumnMismatch | undefined> {
  const schema = await query(
    `SELECT name, type, converted_type, logical_type FROM parquet_schema(${quoteLiteral(path)})`,
  )
  const found = schema.slice(1).map((column) => `${column.name} ${typeOf(column)}`)
  const expected = columns.map((column) => `${column.name} ${PHYSICAL[column.type]}`)
  const at = expected.findIndex((column, index) => column !== found[index])
  if (at < 0 && found.length === expected.length) return undefined
  const first = at >= 0 ? at : expected.length
  return { field: `column ${first + 1}`, expected: expected[first], found: found[first] }
}

const PHYSICAL: Readonly<Record<ColumnType, string>> = {
  text: 'UTF8',
  int32: 'INT32',
  int64: 'INT64',
  bool: 'BOOLEAN',
  time: 'TIMESTAMP adjusted to UTC',
  u256: 'UTF8',
  i256: 'UTF8',
  decimal: 'UTF8',
}

function typeOf({
  type,
  converted_type: converted,
  logical_type: logical,
}: Readonly<Record<string, unknown>>): string {
  const logicalType = String(logical ?? '')
  if (logicalType.startsWith('TimestampType')) {
    return logicalType.includes('isAdjustedToUTC=1') ? 'TIMESTAMP adjusted to UTC' : 'TIMESTAMP without zone'
  }
  if (type === 'BYTE_ARRAY' && (converted === 'UTF8' || logicalType.startsWith('StringType'))) return 'UTF8'
  if (type === 'INT32' && (converted === null || converted === 'INT_32')) return 'INT32'
  if (type === 'INT64' && (converted === null || converted === 'INT_64')) return 'INT64'
  if (type === 'INT64' && String(converted).startsWith('TIMESTAMP')) return 'TIMESTAMP adjusted to UTC'
  return [type, converted ?? logical].filter((part) => part !== null).join(' ')
}
