import { join } from 'node:path'
import { mismatch } from './check-file.ts'
import { type Forms, literal, type ScanOptions, scanSql } from './scan-sql.ts'
import type { LocalFile } from './target.ts'

/** Reads files of any format for targets that cannot read them by themselves. */
export type Reader = {
  /**
   * Writes a file's rows as plain CSV: no header, null as an empty field, text always in quotes, times as ISO text.
   * Resolves with the CSV's path; the caller removes it.
   */
  toCsv(file: LocalFile, forms: Forms): Promise<{ path: string; rows: number }>
  /** A file's rows in small batches, cells in the table's order. */
  batches(file: LocalFile, forms: Forms): AsyncIterable<readonly (readonly unknown[])[]>
  close(): Promise<void>
}

export type ReaderOptions = Pick<ScanOptions, 'unescapeFormulas'> & {
  /** A folder for what does not fit into memory. */
  readonly scratch: string
}

/** Memory that the engine may take before it moves its work to the disk. */
const MEMORY = '256MB'

/** Opens DuckDB over no database of its own. */
export async function openReader({ scratch, unescapeFormulas }: ReaderOptions): Promise<Reader> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: MEMORY,
    temp_directory: join(scratch, 'spill'),
    autoinstall_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const scan = (file: LocalFile, forms: Forms) => scanSql(file, { unescapeFormulas, forms })
  return {
    toCsv: async (file, forms) => {
      const path = join(scratch, 'rows.csv')
      const texts = file.table.columns.filter(({ type }) => type === 'text').map(({ name }) => `"${name}"`)
      const options = `FORMAT csv, HEADER false, NULLSTR '', FORCE_QUOTE (${texts.join(', ')})`
      const copy = `COPY (${scan(file, forms)}) TO ${literal(path)} (${options})`
      const { rowsChanged } = await connection.run(copy).catch((cause: unknown) => {
        throw unreadable(file, cause)
      })
      return { path, rows: rowsChanged }
    },
    batches: async function* (file, forms) {
      try {
        yield* (await connection.stream(scan(file, forms))).yieldRowsJs()
      } catch (cause) {
        throw unreadable(file, cause)
      }
    },
    close: async () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** What is thrown where a file cannot be read as what its name says. */
export function unreadable({ name, path }: LocalFile, cause: unknown): unknown {
  const message = cause instanceof Error ? cause.message : String(cause)
  const line = message.replaceAll(path, name).split('\n', 1)[0]?.slice(0, 300)
  return mismatch(name, `it cannot be read: ${line}`)
}
