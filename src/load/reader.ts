import { join } from 'node:path'
import { openOwnDatabase } from '../core/duckdb/own-database.ts'
import { quoteLiteral } from '../core/platform/sql.ts'
import type { TextRow } from '../read/scratch-database.ts'
import { readChainIds } from './read-chain-ids.ts'
import { readError } from './read-error.ts'
import { type CellFormats, type ScanOptions, scanSql } from './scan-sql.ts'
import type { LocalFile } from './target.ts'

/** Reads export files of any format for targets that cannot read them directly. */
export type Reader = {
  /**
   * Writes a file's rows as plain CSV: no header, null as an empty field, text always quoted. Resolves with the path of
   * the CSV file, which the caller removes.
   */
  toCsv(file: LocalFile, formats: CellFormats): Promise<{ path: string; rows: number }>
  /** Yields a file's rows in batches, with cells as text in the table's column order. */
  batches(file: LocalFile, formats: CellFormats): AsyncIterable<readonly TextRow[]>
  /** Reads the distinct chain ids of the file's rows. */
  chainIds(file: LocalFile): Promise<readonly string[]>
  close(): Promise<void>
}

export type ReaderOptions = Pick<ScanOptions, 'unescapeFormulas'> & {
  /** Folder for data that does not fit into memory. */
  readonly scratchFolder: string
  /** DuckDB's memory limit, such as 256MB; more data is spilled to disk. */
  readonly memory: string
}

/** Opens a reader with an in-memory DuckDB. */
export async function openReader({
  scratchFolder,
  memory,
  unescapeFormulas,
}: ReaderOptions): Promise<Reader> {
  const { connection, close } = await openOwnDatabase({ memory, spillFolder: join(scratchFolder, 'spill') })
  const scan = (file: LocalFile, formats: CellFormats) => scanSql(file, { unescapeFormulas, formats })
  return {
    toCsv: async (file, formats) => {
      const path = join(scratchFolder, 'rows.csv')
      const texts = file.table.columns.filter(({ type }) => type === 'text').map(({ name }) => `"${name}"`)
      const options = `FORMAT csv, HEADER false, NULLSTR '', FORCE_QUOTE (${texts.join(', ')})`
      const copy = `COPY (${scan(file, formats)}) TO ${quoteLiteral(path)} (${options})`
      const { rowsChanged } = await connection.run(copy).catch((cause: unknown) => {
        throw readError(file, cause)
      })
      return { path, rows: rowsChanged }
    },
    batches: async function* (file, formats) {
      const { cells, toRow } = textCells(file)
      const query = `SELECT ${cells} FROM (${scan(file, formats)})`
      try {
        for await (const rows of (await connection.stream(query)).yieldRowsJs()) yield rows.map(toRow)
      } catch (cause) {
        throw readError(file, cause)
      }
    },
    chainIds: (file) => readChainIds(connection, file),
    close: async () => close(),
  }
}

/**
 * SQL for a row's cells as text, with the function that reads them. Fetching one JSON array per row is eight times as
 * fast as fetching cells. For a 30 MB row, however, DuckDB would allocate 256 MB for it, so files that were split
 * because of long rows are read cell by cell.
 */
function textCells({ table, readable, path }: LocalFile): {
  cells: string
  toRow: (row: readonly unknown[]) => TextRow
} {
  const cells = table.columns.map(({ name }) => `CAST("${name}" AS VARCHAR)`).join(', ')
  if (readable.paths[0] !== path) return { cells, toRow: (row) => row as TextRow }
  return { cells: `json_array(${cells})`, toRow: ([line]) => JSON.parse(String(line)) as TextRow }
}
