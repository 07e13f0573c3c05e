import type { DataFile } from '../core/duckdb/data-file.ts'
import type { Manifest } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Table } from '../core/table/index.ts'
import type { NamedTable } from './ddl/create-table.ts'

/** One row of `walletlake_loads`: a file whose rows are in the target. */
export type LoadRecord = {
  readonly outputId: string
  readonly job: string
  /** Chain id that the file's rows carry; a JSON list where there are several, the job's where there are none. */
  readonly chainId: string
  /** Name of the table without the target's prefix. */
  readonly table: string
  readonly path: string
  readonly sha256: string
  readonly fromBlock: number
  /** Exclusive. */
  readonly toBlock: number
  readonly rows: number
  /** ISO time. */
  readonly loadedAt: string
  /** Folder or address, without credentials and query. */
  readonly location: string
  readonly addressesSha256: string
  readonly startBlock: number
}

/** A file of an output on the local disk, checked against its manifest. */
export type LocalFile = {
  readonly table: Table
  /** As the manifest names it, for messages. */
  readonly name: string
  /** Where it lies now. */
  readonly path: string
  readonly format: Manifest['job']['format']
  /** What DuckDB reads in its place. */
  readonly readable: DataFile
  /** Rows that the manifest promises. */
  readonly rows: number
}

/** An engine that rows are loaded into. Every method throws ExportError; no message holds a password. */
export type LoadTarget = {
  /** Changes become visible together when `commit` is called, and not at all after `rollback`. */
  readonly transactions: 'many' | 'one' | 'none'
  begin(): Promise<void>
  /** Creates what is missing. Throws LOAD_FAILED where a table has other columns. */
  prepare(tables: readonly Table[]): Promise<void>
  records(): Promise<LoadRecord[]>
  /** True where the table holds nothing but the rows of these earlier loads: new files share no key with them. */
  containsOnly(table: Table, rows: number): Promise<boolean>
  /** How many rows the table holds, each key once. */
  countRows(table: Table): Promise<number>
  deleteBlocks(table: Table, blocks: BlockRange & { chainId: string }): Promise<void>
  /** Chain ids that the file's rows carry. Throws VERIFY_FAILED where it cannot be read. */
  chainIds(file: LocalFile): Promise<readonly string[]>
  /** Puts the file's rows in, replacing rows of the same key unless `append`; resolves with how many the file held. */
  insert(file: LocalFile, options: { append: boolean }): Promise<number>
  saveRecord(record: LoadRecord): Promise<void>
  deleteRecords(records: readonly LoadRecord[]): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  close(): Promise<void>
}

/** What a target needs of its engine's SQL, made by whoever knows both. */
export type Statements = {
  /** Makes the schema, where one was named. */
  readonly createSchema: readonly string[]
  /** Creates a table of ours, or `walletlake_loads`. */
  readonly create: (table: NamedTable) => readonly string[]
  /** A table's name as an identifier, with schema and prefix. */
  readonly identifier: (table: string) => string
  readonly quote: (name: string) => string
  /** The type that a column is declared with. */
  readonly declare: (column: Table['columns'][number]) => string
  /** Schema and full table name, as catalogs spell them. */
  readonly schema: string | undefined
  readonly prefix: string
}
