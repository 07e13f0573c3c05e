import type { DataFile } from '../core/duckdb/data-file.ts'
import { isoTimeSql, sourceSql, textColumns } from '../core/duckdb/source-sql.ts'
import type { Column, Table } from '../core/table/index.ts'

/** SQL of DuckDB for the rows of a table's files, in order, each cell as the text that CSV has for it. */
export function textScan(files: readonly DataFile[], { columns }: Table): string {
  return groupFiles(files)
    .map((group) => {
      const cells = columns.map((column) => (group.format === 'csv' ? `"${column.name}"` : textOf(column)))
      return `select ${cells.join(', ')} from ${sourceSql(group, textColumns(columns))}`
    })
    .join(' union all ')
}

function textOf({ name, type }: Column): string {
  const text = type === 'time' ? isoTimeSql(`"${name}"`) : `"${name}"::varchar`
  return `${text} as "${name}"`
}

type FileGroup = Omit<DataFile, 'close'>

/** Files that follow each other and are packed alike are read as one. */
function groupFiles(files: readonly DataFile[]): FileGroup[] {
  const groups: FileGroup[] = []
  for (const file of files) {
    const last = groups.at(-1)
    if (last?.isGzipped !== file.isGzipped) groups.push(file)
    else groups[groups.length - 1] = combine(last, file)
  }
  return groups
}

function combine(one: FileGroup, next: FileGroup): FileGroup {
  const maxRowBytes = Math.max(one.maxRowBytes, next.maxRowBytes)
  return { ...one, maxRowBytes, paths: [...one.paths, ...next.paths] }
}
