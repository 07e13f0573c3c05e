import { join } from 'node:path'
import { quoteLiteral } from '../core/platform/sql.ts'
import type { TextRow } from '../read/scratch-database.ts'
import { openEngine } from './open-engine.ts'
import { readChainIds } from './read-chain-ids.ts'
import { readError } from './read-error.ts'
import { type CellFormats, type ScanOptions, scanSql } from './scan-sql.ts'
import type { LocalFile } from './target.ts'

/** Reads files of any format for targets that cannot read them by themselves. */
export type Reader = {
  /**
   * Writes a file's rows as plain CSV: no header, null as an empty field, text always in quotes, times as ISO text.
   * Resolves with the CSV's path; the caller removes it.
   */
  toCsv(file: LocalFile, formats: CellFormats): Promise<{ path: string; rows: number }>
  /** A file's rows in small batches, cells as text in the table's order. */
  batches(file: LocalFile, formats: CellFormats): AsyncIterable<readonly TextRow[]>
  /** Chain ids that the file's rows carry. */
  chainIds(file: LocalFile): Promise<readonly string[]>
  close(): Promise<void>
}

export type ReaderOptions = Pick<ScanOptions, 'unescapeFormulas'> & {
  /** A folder for what does not fit into memory. */
  readonly scratchFolder: string
  /** Memory that the engine may take before it moves its work to the disk, such as 256MB. */
  readonly memory: string
}

/** Opens DuckDB over no database of its own. */
export async function openReader({
  scratchFolder,
  memory,
  unescapeFormulas,
}: ReaderOptions): Promise<Reader> {
  const { connection, close } = await openEngine({ scratchFolder, name: 'spill', memory })
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
 * A row's cells as text. One JSON text a row is eight times as fast as a cell at a time; but for a row of 30 MB DuckDB would
 * take 256 MB at once, so files that were cut for their long rows go by the cell.
 */
function textCells({ table, readable, path }: LocalFile): {
  cells: string
  toRow: (row: readonly unknown[]) => TextRow
} {
  const cells = table.columns.map(({ name }) => `CAST("${name}" AS VARCHAR)`).join(', ')
  if (readable.paths[0] !== path) return { cells, toRow: (row) => row as TextRow }
  return { cells: `json_array(${cells})`, toRow: ([line]) => JSON.parse(String(line)) as TextRow }
}
