import { stat } from 'node:fs/promises'
import { type MemoryLimit, openDuckDb } from '../core/duckdb/connection.ts'
import { csvSource, typedColumns } from '../core/duckdb/source-sql.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Compression } from '../core/model/model.ts'
import { hashFile } from '../core/platform/disk.ts'
import { quoteLiteral } from '../core/platform/sql.ts'
import type { Table } from '../core/table/index.ts'

export type ParquetFile = {
  path: string
  table: Table
  compression: Compression
  /** Rows, and about how many bytes they all have as lines. */
  size: { rows: number; bytes: number }
  /** Breaks the copy off, which then throws its reason: a thread that ends while DuckDB is at work takes the whole process with it. */
  signal?: AbortSignal | undefined
}

export type ParquetCopy = ParquetFile & {
  /** CSV as our own writer makes it, with its header. */
  staged: string
  /** What was staged; `longest` is in bytes of a line. */
  size: { maxLineBytes: number }
}

/**
 * Turns staged lines, in their final order, into a Parquet file by one COPY of DuckDB (CONTRACT section 3.3): version
 * 1 pages, dictionaries, statistics and row groups of about 100,000 rows. One thread and kept insertion order give the
 * same bytes on every run. Throws OUTPUT_FAILED.
 */
export function copyToParquet(copy: ParquetCopy): Promise<{ bytes: number; sha256: string }> {
  return writeParquet(copy, selectStaged(copy))
}

/** Writes the rows of a query, whose columns are those of the table, in their order. Throws OUTPUT_FAILED. */
export async function writeParquet(
  file: ParquetFile,
  select: string,
): Promise<{ bytes: number; sha256: string }> {
  for (const memory of memoryFor(file.size.bytes)) {
    const rows = await copyWithMemory(memory, file, select)
    if (rows === file.size.rows) return measureFile(file.path)
    if (rows !== undefined)
      throw new ExportError('BUG', `${file.path} has ${rows} rows of ${file.size.rows}: nothing is published`)
  }
  throw new ExportError('OUTPUT_FAILED', `rows of ${file.table.name} are too long for a Parquet row group`)
}

/** A copy of more bytes of lines takes all the memory that it may. */
const LARGE_COPY_BYTES = 80_000_000
/** More only where DuckDB says that the first was not enough: it is, for row groups of the size below. */
const memoryFor = (bytes: number) =>
  [bytes > LARGE_COPY_BYTES ? '160MB' : 'shared', '640MB', '2400MB'] as const

/** One try: the rows that were written; undefined where the memory was not enough. The limit does not change the bytes. */
async function copyWithMemory(
  memory: MemoryLimit,
  file: ParquetFile,
  select: string,
): Promise<number | undefined> {
  const { connection, close } = await openDuckDb(memory, `${file.path}.tmp`)
  const interrupt = () => connection.interrupt()
  try {
    file.signal?.throwIfAborted()
    file.signal?.addEventListener('abort', interrupt)
    const { rowsChanged } = await connection.run(copyStatement(file, select))
    return rowsChanged
  } catch (cause) {
    file.signal?.throwIfAborted()
    const message = cause instanceof Error ? cause.message : String(cause)
    if (message.startsWith('Out of Memory')) return undefined
    throw new ExportError(
      'OUTPUT_FAILED',
      `cannot write ${file.table.name} as Parquet: ${firstLine(message)}`,
      { cause },
    )
  } finally {
    file.signal?.removeEventListener('abort', interrupt)
    await close()
  }
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? ''

function selectStaged({ staged, table, size }: ParquetCopy): string {
  const file = {
    paths: [staged],
    isGzipped: false,
    maxRowBytes: Math.max(MIN_LINE_BYTES, 2 * size.maxLineBytes),
  }
  return `select * from ${csvSource(file, typedColumns(table.columns))}`
}

/** Room for a line, in bytes, that costs next to nothing. */
const MIN_LINE_BYTES = 1 << 20

function copyStatement({ path, compression, size }: ParquetFile, select: string): string {
  const codec = compression === 'none' ? 'uncompressed' : compression
  const options = `format parquet, compression ${codec}, parquet_version v1, row_group_size ${rowGroupRows(size)}`
  return `copy (${select}) to ${quoteLiteral(path)} (${options})`
}

/** A row group is held in memory whole: about 100,000 rows, fewer where rows are long (metadata of strangers). */
function rowGroupRows({ rows, bytes }: ParquetFile['size']): number {
  const fittingRows = Math.floor(ROW_GROUP_BYTES / Math.max(1, bytes / Math.max(1, rows)))
  return Math.max(2_048, Math.min(100_000, fittingRows))
}

const ROW_GROUP_BYTES = 90_000_000

async function measureFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const sha256 = await hashFile(path)
  return { bytes: (await stat(path)).size, sha256 }
}
