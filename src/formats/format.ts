import type { Compression, FormatName, NumberFormat } from '../core/model/model.ts'
import type { Column, DecimalColumn, Table } from '../core/table/index.ts'
import type { SqlColumn } from './column-sql.ts'
import type { CsvFormatter } from './csv-lines.ts'

/**
 * An output format: how its files are named, read, checked, written and merged.
 *
 * To add a format: add its name to `FORMAT_NAMES` in `core/model/model.ts`, describe it in a file of this folder,
 * and list it in `FORMATS` in `index.ts`. If DuckDB can write it, `duckDbWriter` provides the writing half.
 * BigQuery and Snowflake read the files themselves: `load/ddl/` lists the formats that they can load.
 */
export type Format = FormatReader & FormatWriter

type FormatReader = {
  /** Name in messages and help, such as `CSV` in "2 CSV files". */
  readonly title: string
  /** Compressions that a job may choose, the default first. */
  readonly compressions: readonly [Compression, ...Compression[]]
  /** Extension of file names, without the leading dot. It ends in `.gz` if and only if the file is a gzip stream. */
  readonly extension: (compression: Compression) => string
  /** Whether a `'` is put before text that a spreadsheet would run as a formula, unless the job turns it off. */
  readonly escapesFormulas: boolean
  /** Whether Iceberg tables may consist of these files. */
  readonly isIcebergFile: boolean
  /**
   * Whether files store the types of their columns. If not, a cell that is read as text has the notation of CSV
   * files (CONTRACT section 3.2).
   */
  readonly isTyped: boolean
  /**
   * DuckDB SQL source of the rows of files, in file order. Formats that store types ignore the types of `columns`.
   */
  sourceSql(files: FileSource, columns: readonly SqlColumn[]): string
  /** Splits a file with rows that are too long for DuckDB. @default DuckDB reads every file as it is */
  splitLongRows?(path: string, unsplit: DataFile, scratch: string): Promise<DataFile>
  /** First line of every file, without the line feed. @default files have no header */
  header?(columns: readonly Column[]): string
  /** Finds the first difference between the columns of a file and those of its table, by reading the file. */
  findColumnMismatch(
    file: { path: string; columns: readonly Column[]; decimals?: readonly DecimalColumn[] },
    query: SqlQuery,
  ): Promise<ColumnMismatch | undefined>
}

/** Rows are staged as CSV lines in their final order; part files are made from these lines. */
export type FormatWriter = {
  /** Creates the formatter of the lines that `writePart` takes. */
  createLineFormatter(options: { escapeFormulas: boolean }): CsvFormatter
  /** Writes a part file. Each block of `lines` is valid until the next. Throws OUTPUT_FAILED. */
  writePart(part: PartFile, lines: Iterable<Buffer>): Promise<FileDigest>
  readonly merging: MergingByLines | MergingByRows
}

/** Files are merged by copying their lines: no cell is parsed. */
export type MergingByLines = {
  readonly by: 'lines'
  /** Copies the lines of a file, as `writePart` takes them. Throws VERIFY_FAILED if its header is wrong. */
  copyLines(from: string, to: string, columns: readonly Column[]): Promise<{ path: string; bytes: number }>
}

/** Files are merged by a query that DuckDB writes to a new file. */
export type MergingByRows = {
  readonly by: 'rows'
  /** Writes the rows of a query, whose columns are those of the table, in their order. Throws OUTPUT_FAILED. */
  writeRows(file: RowsFile, select: string): Promise<FileDigest>
}

export type SqlQuery = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

/** `field` names what differs, such as `header`. */
export type ColumnMismatch = { field: string; expected: unknown; found: unknown }

/** Files of one format and compression that DuckDB reads as one source. */
export type FileSource = {
  /** In row order. */
  paths: readonly string[]
  isGzipped: boolean
  /** Maximum length of a row of text, in bytes, to configure in DuckDB. */
  maxRowBytes: number
}

/** `maxRowBytes` of files whose rows were not measured. */
export const DEFAULT_ROW_BYTES = 16 * 1024 * 1024

/** A file of an export as DuckDB reads it: the file itself, or the segments of a file with long rows. */
export type DataFile = FileSource & {
  format: FormatName
  /** Removes the segments. */
  close(): Promise<void>
}

type NewFile = {
  path: string
  table: Table
  compression: Compression
  /** Whether files that store types also have columns of decimals. @default text */
  numbers?: NumberFormat | undefined
  /** Aborts the write, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined
}

export type PartFile = NewFile & {
  rows: number
  /** Length of the longest line, in bytes, or more. */
  maxLineBytes: number
}

export type RowsFile = NewFile & {
  /** Number of rows, and their approximate size as CSV lines in bytes. */
  size: { rows: number; bytes: number }
}

/** `notDecimal`: number of rows with a number that does not fit its decimal column; absent if there are none. */
export type FileDigest = { bytes: number; sha256: string; notDecimal?: number }
