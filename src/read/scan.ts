import type { Format } from '../core/model.ts'
import type { Table } from '../core/table/index.ts'
import { literal, named } from './sql.ts'

/** Longest row of a CSV file that can be read, in bytes: metadata may hold whole pictures. */
const LONGEST_ROW = 16 * 1024 * 1024

/** SQL source of a file's rows in file order: CSV cells are all text, Parquet cells have their types. */
export function scanSql(path: string, table: Table, format: Format): string {
  if (format === 'parquet') return `read_parquet(${literal(path)}, hive_partitioning = false)`
  const columns = table.columns.map((column) => `${named(column.name)}: 'VARCHAR'`).join(', ')
  const options = [
    'header = true, auto_detect = false, strict_mode = true',
    `delim = ',', quote = '"', escape = '"', new_line = '\\n'`,
    `nullstr = '', allow_quoted_nulls = false`,
    `max_line_size = ${LONGEST_ROW}, buffer_size = ${2 * LONGEST_ROW}, parallel = false`,
    `compression = '${path.endsWith('.gz') ? 'gzip' : 'none'}'`,
    `columns = {${columns}}, hive_partitioning = false`,
  ]
  return `read_csv(${literal(path)}, ${options.join(', ')})`
}
