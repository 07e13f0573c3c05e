import { rm, stat } from 'node:fs/promises'
import { type MemoryLimit, openDuckDb } from '../core/duckdb/connection.ts'
import { ExportError } from '../core/model/errors.ts'
import { hashFile } from '../core/platform/disk.ts'
import { openPlainFile, writeLines } from '../core/platform/hashed-file.ts'
import { decimalColumnsOf } from '../core/table/index.ts'
import { pathList, typedColumns } from './column-sql.ts'
import { csvSource } from './csv.ts'
import { createCsvFormatter, csvHeader } from './csv-lines.ts'
import type { FileDigest, FormatWriter, PartFile, RowsFile } from './format.ts'

/** Builds the COPY statement that writes the rows of a query to a file. */
type CopyStatement = (select: string, file: RowsFile) => string

/**
 * The writing half of a format whose files DuckDB writes. Rows are staged as CSV lines, and one COPY converts the lines
 * of a part. One thread and preserved insertion order give the same bytes on every run.
 */
export function duckDbWriter(title: string, copyStatement: CopyStatement): FormatWriter {
  const writeRows = (file: RowsFile, select: string) => copyRows(file, copyStatement(select, file), title)
  return {
    // Empty text is quoted, because an unquoted empty field is null.
    createLineFormatter: () => createCsvFormatter({ escapeFormulas: false, quoteEmpty: true }),
    writePart: async (part, lines) => {
      const { path, table, compression, numbers, rows, signal } = part
      // One file, not the staged chunks: the sizes of row groups depend on where files end.
      const staged = `${path}.lines`
      const content = { header: csvHeader(table.columns), lines, signal }
      const { bytes } = await writeLines(openPlainFile(staged), staged, content)
      const file = { path, table, compression, numbers, signal, size: { rows, bytes } }
      const digest = await writeRows(file, selectStaged(staged, part))
      await rm(staged)
      return digest
    },
    merging: { by: 'rows', writeRows },
  }
}

function selectStaged(staged: string, { table, maxLineBytes }: PartFile): string {
  const file = { paths: [staged], isGzipped: false, maxRowBytes: Math.max(MIN_LINE_BYTES, 2 * maxLineBytes) }
  return `select * from ${csvSource(file, typedColumns(table.columns))}`
}

/** Smallest line length to configure, in bytes; smaller values do not save memory. */
const MIN_LINE_BYTES = 1 << 20

/** Throws OUTPUT_FAILED. */
async function copyRows(file: RowsFile, statement: string, title: string): Promise<FileDigest> {
  for (const memory of memoryFor(file.size.bytes)) {
    const copied = await copyWithMemory(memory, file, { statement, title })
    const { rows, notDecimal = 0 } = copied ?? {}
    if (rows === file.size.rows) {
      const counts = notDecimal === 0 ? {} : { notDecimal }
      return { bytes: (await stat(file.path)).size, sha256: await hashFile(file.path), ...counts }
    }
    if (rows !== undefined)
      throw new ExportError('BUG', `${file.path} has ${rows} rows of ${file.size.rows}: nothing is published`)
  }
  throw new ExportError('OUTPUT_FAILED', `rows of ${file.table.name} are too long for a ${title} row group`)
}

/** Size of the lines from which a copy gets an instance of its own. */
const LARGE_COPY_BYTES = 80_000_000
/** The first limit suffices for row groups of the usual size. The others are tried if DuckDB runs out of memory. */
const memoryFor = (bytes: number) =>
  [bytes > LARGE_COPY_BYTES ? '160MB' : 'shared', '640MB', '2400MB'] as const

/**
 * Runs the statement once. Resolves with the number of written rows, and of those whose numbers are no decimals, or undefined if the memory did not suffice. The
 * limit does not affect the bytes. On abort the statement is interrupted, because a thread that ends while DuckDB works
 * would end the whole process.
 */
async function copyWithMemory(
  memory: MemoryLimit,
  { path, table, numbers, signal }: RowsFile,
  { statement, title }: { statement: string; title: string },
): Promise<{ rows: number; notDecimal: number } | undefined> {
  const { connection, close } = await openDuckDb(memory, `${path}.tmp`)
  const interrupt = () => connection.interrupt()
  try {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', interrupt)
    const { rowsChanged } = await connection.run(statement)
    const decimals = decimalColumnsOf(table, numbers)
    if (decimals.length === 0) return { rows: rowsChanged, notDecimal: 0 }
    const isMissing = decimals.map(({ name, of }) => `(${name} IS NULL AND "${of}" IS NOT NULL)`)
    const counted = await connection.runAndReadAll(
      `SELECT count(*) FROM read_parquet(${pathList([path])}) WHERE ${isMissing.join(' OR ')}`,
    )
    return { rows: rowsChanged, notDecimal: Number(counted.getRows()[0]?.[0]) }
  } catch (cause) {
    signal?.throwIfAborted()
    const message = cause instanceof Error ? cause.message : String(cause)
    if (message.startsWith('Out of Memory')) return undefined
    const [reason = ''] = message.split('\n', 1)
    throw new ExportError('OUTPUT_FAILED', `cannot write ${table.name} as ${title}: ${reason}`, { cause })
  } finally {
    signal?.removeEventListener('abort', interrupt)
    await close()
  }
}
