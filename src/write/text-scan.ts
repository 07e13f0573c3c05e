import type { Format } from '../model.ts'
import type { Column, Table } from '../table/index.ts'
import { quote } from './parquet.ts'

/** SQL of DuckDB for the rows of a table's files, in order, each cell as the text that CSV has for it. */
export function textScan(
  files: readonly string[],
  { table, format }: { table: Table; format: Format },
): string {
  const cells = table.columns.map((column) => (format === 'csv' ? `"${column.name}"` : textOf(column)))
  const scans = format === 'csv' ? csvScans(files, table) : [`read_parquet(${listed(files)}, ${NO_HIVE})`]
  return scans.map((scan) => `select ${cells.join(', ')} from ${scan}`).join(' union all ')
}

const NO_HIVE = 'hive_partitioning = false'

function textOf({ name, type }: Column): string {
  const isTime = type === 'time'
  const text = isTime
    ? `strftime(make_timestamp(epoch_us("${name}")), '%Y-%m-%dT%H:%M:%S.%gZ')`
    : `"${name}"::varchar`
  return `${text} as "${name}"`
}

/** Longest row of a CSV file that can be read, in bytes: metadata may hold whole pictures. */
const LONGEST_ROW = 16 * 1024 * 1024

/** One source for each stretch of files that are packed alike. */
function csvScans(files: readonly string[], { columns }: Table): string[] {
  const options = [
    'header = true, auto_detect = false, strict_mode = true',
    `delim = ',', quote = '"', escape = '"', new_line = '\\n'`,
    `nullstr = '', allow_quoted_nulls = false`,
    `max_line_size = ${LONGEST_ROW}, buffer_size = ${2 * LONGEST_ROW}, parallel = false`,
    `columns = {${columns.map(({ name }) => `"${name}": 'VARCHAR'`).join(', ')}}, ${NO_HIVE}`,
  ].join(', ')
  return alike(files).map(({ packed, paths }) => {
    return `read_csv(${listed(paths)}, compression = '${packed ? 'gzip' : 'none'}', ${options})`
  })
}

function alike(files: readonly string[]): { packed: boolean; paths: string[] }[] {
  const stretches: { packed: boolean; paths: string[] }[] = []
  for (const path of files) {
    const packed = path.endsWith('.gz')
    const last = stretches.at(-1)
    if (last?.packed === packed) last.paths.push(path)
    else stretches.push({ packed, paths: [path] })
  }
  return stretches
}

/** Paths that stand for themselves: letters that begin a pattern are made a class of one. */
function listed(paths: readonly string[]): string {
  return `[${paths.map((path) => quote(path.replace(/[*?[]/g, '[$&]'))).join(', ')}]`
}
