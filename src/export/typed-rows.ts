import {
  type Column,
  type ColumnType,
  type TableName,
  type TableRows,
  tableByName,
} from '../core/table/index.ts'
import { type Chunk, readLines } from '../files/chunk.ts'
import { csvHeader } from '../formats/csv-lines.ts'
import { rowsOf } from '../read/export-csv-rows.ts'
import type { TextRow } from '../read/scratch-database.ts'

/**
 * Yields typed rows of a table from staged lines. `onChain` is called with the chain id of each row before it
 * is yielded.
 */
export async function* rowsIn<T extends TableName>(
  table: T,
  chunks: readonly Chunk[],
  onChain: (chain: string) => void,
): AsyncGenerator<TableRows[T]> {
  const { columns } = tableByName(table)
  const names = columns.map(({ name }) => name)
  const chainAt = names.indexOf('chain_id')
  for await (const rows of rowsOf(withHeader(columns, chunks), { columns, names, isEscaped: false }))
    for (const row of rows) {
      onChain(row[chainAt] ?? '')
      yield toObject(columns, row)
    }
}

async function* withHeader(columns: readonly Column[], chunks: readonly Chunk[]): AsyncGenerator<Buffer> {
  yield Buffer.from(`${csvHeader(columns)}\n`)
  // The reader keeps the incomplete last line of a block, and `readLines` reuses the buffer, so the block is
  // copied.
  for (const block of readLines(chunks)) yield Buffer.from(block)
}

function toObject<T extends TableName>(columns: readonly Column[], row: TextRow): TableRows[T] {
  const cells = columns.map(({ name, type }, at) => {
    const text = row[at] ?? null
    return [name, text === null ? null : cellOf(type, text)]
  })
  return Object.fromEntries(cells) as TableRows[T]
}

function cellOf(type: ColumnType, text: string) {
  if (type === 'bool') return text === 'true'
  if (type === 'int64') return BigInt(text)
  if (type === 'int32') return Number(text)
  return type === 'time' ? new Date(text) : text
}
