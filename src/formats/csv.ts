import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'
import { diskError } from '../core/platform/disk.ts'
import { openHashedFile, writeLines } from '../core/platform/hashed-file.ts'
import { quoteIdentifier } from '../core/platform/sql.ts'
import type { Column } from '../core/table/index.ts'
import { pathList, type SqlColumn } from './column-sql.ts'
import { createCsvFormatter, csvHeader } from './csv-lines.ts'
import type { FileSource, Format } from './format.ts'
import { splitLongRows } from './split-csv.ts'

/** CSV (CONTRACT section 3.2). Staged lines are the lines of the files. */
export const CSV: Format = {
  title: 'CSV',
  compressions: ['none', 'gzip'],
  extension: (compression) => (compression === 'gzip' ? 'csv.gz' : 'csv'),
  escapesFormulas: true,
  isTyped: false,
  isIcebergFile: false,
  sourceSql: csvSource,
  splitLongRows,
  header: csvHeader,
  findColumnMismatch: async ({ path, columns }) => {
    const [expected, found] = [csvHeader(columns), await readHeader(path)]
    return found === expected ? undefined : { field: 'header', expected, found }
  },
  createLineFormatter: ({ escapeFormulas }) => createCsvFormatter({ escapeFormulas, quoteEmpty: false }),
  writePart: ({ path, table, compression, signal }, lines) =>
    writeLines(openHashedFile(path, { gzip: compression === 'gzip' }), path, {
      header: csvHeader(table.columns),
      lines,
      signal,
    }),
  merging: { by: 'lines', copyLines: decompressLines },
}

/**
 * SQL source of CSV files that walletlake wrote, without type detection: an empty field is null, quoted empty
 * text is not.
 */
export function csvSource(
  { paths, isGzipped, maxRowBytes }: FileSource,
  columns: readonly SqlColumn[],
): string {
  const options = [
    'header = true, auto_detect = false, strict_mode = true, hive_partitioning = false',
    `delim = ',', quote = '"', escape = '"', comment = '', new_line = '\\n'`,
    `nullstr = '', allow_quoted_nulls = false, compression = '${isGzipped ? 'gzip' : 'none'}'`,
    `max_line_size = ${maxRowBytes}, buffer_size = ${bufferFor(maxRowBytes)}, parallel = false`,
    `columns = {${columns.map(({ name, type }) => `${quoteIdentifier(name)}: '${type}'`).join(', ')}}`,
  ]
  return `read_csv(${pathList(paths)}, ${options.join(', ')})`
}

const MIB = 1024 * 1024

/**
 * Buffer size: two rows if that is cheap, one row plus 1 MiB for long rows, because DuckDB holds several
 * buffers.
 */
const bufferFor = (maxRowBytes: number) => Math.max(maxRowBytes + MIB, Math.min(2 * maxRowBytes, 32 * MIB))

/** Copies the lines of a CSV file, decompressed and without the header. Throws VERIFY_FAILED if the header is wrong. */
async function decompressLines(
  from: string,
  to: string,
  columns: readonly Column[],
): Promise<{ path: string; bytes: number }> {
  const decompress = from.endsWith('.gz') ? [createGunzip()] : []
  try {
    await pipeline([
      createReadStream(from, { highWaterMark: 1 << 18 }),
      ...decompress,
      withoutHeader(Buffer.from(`${csvHeader(columns)}\n`), from),
      createWriteStream(to),
    ])
    return { path: to, bytes: (await stat(to)).size }
  } catch (cause) {
    throw diskError(`cannot read ${from}`, cause)
  }
}

function withoutHeader(header: Buffer, path: string): Transform {
  let start: Buffer | undefined = Buffer.alloc(0)
  const differs = () => start !== undefined && !start.subarray(0, header.length).equals(header)
  const headerError = () => new ExportError('VERIFY_FAILED', `${path} begins with another header`)
  return new Transform({
    transform: (block: Buffer, _encoding, done) => {
      if (start === undefined) return done(null, block)
      start = Buffer.concat([start, block])
      if (start.length < header.length) return done()
      if (differs()) return done(headerError())
      const lines = start.subarray(header.length)
      start = undefined
      done(null, lines)
    },
    flush: (done) => done(start === undefined ? null : headerError()),
  })
}

/** Maximum length of a header, in bytes. */
const MAX_HEADER_BYTES = 16_384

/** Reads the first line of a file without its `\n`; undefined if there is no complete line or it cannot be read. */
export async function readHeader(path: string): Promise<string | undefined> {
  const file = createReadStream(path)
  const source = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  file.on('error', (thrown) => source.destroy(thrown))
  let head = Buffer.alloc(0)
  try {
    for await (const chunk of source) {
      head = Buffer.concat([head, chunk as Buffer])
      const end = head.indexOf('\n')
      if (end >= 0) return head.subarray(0, end).toString('utf8')
      if (head.length > MAX_HEADER_BYTES) return undefined
    }
    return undefined
  } catch {
    return undefined
  } finally {
    file.destroy()
  }
}
