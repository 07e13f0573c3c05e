import type { Format } from '../core/model.ts'
import type { Column, Table } from '../core/table/index.ts'
import { csvScan, listed } from './csv-scan.ts'

/** SQL of DuckDB for the rows of a table's files, in order, each cell as the text that CSV has for it. */
export function textScan(
  files: readonly string[],
  { table, format }: { table: Table; format: Format },
): string {
  const cells = table.columns.map((column) => (format === 'csv' ? `"${column.name}"` : textOf(column)))
  const scans =
    format === 'csv' ? csvScans(files, table) : [`read_parquet(${listed(files)}, hive_partitioning = false)`]
  return scans.map((scan) => `select ${cells.join(', ')} from ${scan}`).join(' union all ')
}

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
function csvScans(files: readonly string[], table: Table): string[] {
  const columns = table.columns.map(({ name }) => ({ name, type: 'VARCHAR' }))
  return alike(files).map(({ packed, paths }) => csvScan(paths, { columns, longest: LONGEST_ROW, packed }))
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
