import type { Manifest } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Table } from '../core/table/index.ts'
import type { DataFile } from '../formats/format.ts'
import type { NamedTable } from './ddl/create-table.ts'

/** One row of `walletlake_loads`: a file whose rows are in the target. */
export type LoadRecord = {
  readonly outputId: string
  readonly job: string
  /** Chain id of the file's rows; a JSON list if they have several, the job's chain id if there are no rows. */
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
  /** Folder or URL of the output, without credentials and query string. */
  readonly location: string
  readonly addressesSha256: string
  readonly startBlock: number
}

/** A file of an output on the local disk, checked against its manifest. */
export type LocalFile = {
  readonly table: Table
  /** Path in the manifest, for messages. */
  readonly name: string
  /** Local path. */
  readonly path: string
  readonly format: Manifest['job']['format']
  /** The file in a form that DuckDB can read. */
  readonly readable: DataFile
  /** Number of rows according to the manifest. */
  readonly rows: number
}

/** Block ranges of the rows with one of these chain ids; no rows if there are no ranges. */
export type TableBlocks = { readonly chainIds: readonly string[]; readonly ranges: readonly BlockRange[] }

/** A database that rows are loaded into. All methods throw ExportErrors, whose messages contain no passwords. */
export type LoadTarget = {
  /** How many transactions a load may use; with `none`, each change is visible at once and `rollback` does nothing. */
  readonly transactions: 'many' | 'one' | 'none'
  begin(): Promise<void>
  /** Creates missing schemas, tables and columns. Throws LOAD_FAILED if a table has incompatible columns. */
  prepare(tables: readonly Table[]): Promise<void>
  records(): Promise<LoadRecord[]>
  isEmpty(table: Table): Promise<boolean>
  /** Reads the distinct chain ids of the file's rows. Throws VERIFY_FAILED if the file cannot be read. */
  chainIds(file: LocalFile): Promise<readonly string[]>
  /** Creates an empty stage for rows of this table. There is one stage at a time. */
  createStage(table: Table): Promise<void>
  /**
   * Inserts the file's rows into its stage, or into its table if that has no row with the same key. Resolves with the
   * number of rows in the file.
   */
  insert(file: LocalFile, into: 'stage' | 'table'): Promise<number>
  /** Returns the key of a staged row that the table has in one of these blocks; undefined if there is none. */
  findDuplicate(table: Table, blocks: TableBlocks): Promise<readonly string[] | undefined>
  /**
   * Inserts staged rows that the table lacks, updates rows that differ from the staged row with their key, deletes rows
   * of the blocks that are not staged, and drops the stage. Touches neither other rows nor columns of users.
   */
  merge(table: Table, removed: TableBlocks): Promise<void>
  saveRecord(record: LoadRecord): Promise<void>
  deleteRecords(records: readonly LoadRecord[]): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  close(): Promise<void>
}

/** SQL of the target's engine for its schema and prefix. */
export type Statements = {
  /** Creates the schema, if one was given. */
  readonly createSchema: readonly string[]
  /** Creates an export table or `walletlake_loads`. */
  readonly create: (table: NamedTable) => readonly string[]
  /** Quotes a table name, with schema and prefix. */
  readonly identifier: (table: string) => string
  readonly quote: (name: string) => string
  /** Formats a column's type and nullability. */
  readonly declare: (column: Table['columns'][number]) => string
  /** Makes a column nullable. Absent if the engine cannot. */
  readonly dropNotNull: ((table: string, column: string) => string) | undefined
  /** Schema and table prefix, unquoted, for catalog queries. */
  readonly schema: string | undefined
  readonly prefix: string
}
