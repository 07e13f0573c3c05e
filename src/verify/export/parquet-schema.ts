import { quoteLiteral } from '../../core/platform/sql.ts'
import type { ColumnType, Table } from '../../core/table/index.ts'
import { type Findings, formatValue } from '../../read/findings.ts'
import type { ResultRow, ScratchDatabase } from '../../read/scratch-database.ts'

/** Checks that a Parquet file has exactly the table's columns, in order, with the physical types of the contract. */
export async function checkParquetSchema(
  database: ScratchDatabase,
  file: { path: string; table: Table },
  findings: Findings,
): Promise<boolean> {
  const schema = await database.all(
    `SELECT name, type, converted_type, logical_type FROM parquet_schema(${quoteLiteral(`${database.folder}/${file.path}`)})`,
  )
  const found = schema.slice(1).map((column) => `${column.name} ${typeOf(column)}`)
  const expected = file.table.columns.map((column) => `${column.name} ${PHYSICAL[column.type]}`)
  const at = expected.findIndex((column, index) => column !== found[index])
  const first = at >= 0 ? at : expected.length
  return findings.expect(at < 0 && found.length === expected.length, () => {
    return `${file.path}: column ${first + 1}: expected ${formatValue(expected[first])}, found ${formatValue(found[first])}`
  })
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

function typeOf({ type, converted_type: converted, logical_type: logical }: ResultRow): string {
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
