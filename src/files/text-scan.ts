import type { DataFile } from '../core/duckdb/data-file.ts'
import { isoTimeSql, sourceSql, textColumns } from '../core/duckdb/source-sql.ts'
import type { Column, Table } from '../core/table/index.ts'

/** SQL of DuckDB for the rows of a table's files, in order, each cell as the text that CSV has for it. */
export function textScan(files: readonly DataFile[], { columns }: Table): string {
  return stretchesOf(files)
    .map((stretch) => {
      const cells = columns.map((column) => (stretch.format === 'csv' ? `"${column.name}"` : textOf(column)))
      return `select ${cells.join(', ')} from ${sourceSql(stretch, textColumns(columns))}`
    })
    .join(' union all ')
}

function textOf({ name, type }: Column): string {
  const text = type === 'time' ? isoTimeSql(`"${name}"`) : `"${name}"::varchar`
  return `${text} as "${name}"`
}

type Stretch = Omit<DataFile, 'close'>

/** Files that follow each other and are packed alike are read as one. */
function stretchesOf(files: readonly DataFile[]): Stretch[] {
  const stretches: Stretch[] = []
  for (const file of files) {
    const last = stretches.at(-1)
    if (last?.isPacked !== file.isPacked) stretches.push(file)
    else stretches[stretches.length - 1] = joined(last, file)
  }
  return stretches
}

function joined(one: Stretch, next: Stretch): Stretch {
  const longest = Math.max(one.longest, next.longest)
  return { ...one, longest, paths: [...one.paths, ...next.paths] }
}
