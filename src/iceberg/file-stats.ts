import { openDuckDb } from '../core/duckdb/connection.ts'
import { quoteLiteral } from '../core/platform/sql.ts'
import type { ByColumn, DataFile } from './manifest-files.ts'
import type { IcebergSchema } from './metadata.ts'

export type FileStats = Pick<
  DataFile,
  'column_sizes' | 'value_counts' | 'null_value_counts' | 'lower_bounds' | 'upper_bounds'
>

type ColumnChunk = {
  file_name: string
  path_in_schema: string
  num_values: bigint
  stats_null_count: bigint | null
  stats_min_value: string | null
  stats_max_value: string | null
  total_compressed_size: bigint
}

/**
 * Reads the statistics of Parquet files from their footers.
 *
 * @param paths local paths
 * @returns the statistics by path; a column without statistics in a row group has no bounds
 */
export async function readFileStats(
  paths: readonly string[],
  schema: IcebergSchema,
): Promise<ReadonlyMap<string, FileStats>> {
  const byFile = new Map<string, ColumnChunk[]>(paths.map((path) => [path, []]))
  if (paths.length === 0) return new Map()
  const { connection, close } = await openDuckDb('shared', paths[0] ?? '')
  try {
    const files = paths.map((path) => quoteLiteral(path.replace(/[*?[]/g, '[$&]'))).join(', ')
    const reader = await connection.runAndReadAll(
      `SELECT file_name, path_in_schema, num_values, stats_null_count, stats_min_value, stats_max_value,
         total_compressed_size FROM parquet_metadata([${files}])`,
    )
    for (const row of reader.getRowObjects() as ColumnChunk[]) byFile.get(row.file_name)?.push(row)
  } finally {
    await close()
  }
  return new Map([...byFile].map(([path, chunks]) => [path, statsOf(chunks, schema)]))
}

function statsOf(chunks: readonly ColumnChunk[], { fields }: IcebergSchema): FileStats {
  const stats = {
    column_sizes: [] as ByColumn<number>,
    value_counts: [] as ByColumn<number>,
    null_value_counts: [] as ByColumn<number>,
    lower_bounds: [] as ByColumn<Buffer>,
    upper_bounds: [] as ByColumn<Buffer>,
  }
  for (const { id, name, type } of fields) {
    const own = chunks.filter(({ path_in_schema }) => path_in_schema === name)
    if (own.length === 0) continue
    const sum = (values: readonly (bigint | null)[]) =>
      Number(values.reduce((total: bigint, value) => total + (value ?? 0n), 0n))
    const values = sum(own.map(({ num_values }) => num_values))
    const nulls = own.map(({ stats_null_count }) => stats_null_count)
    stats.column_sizes.push({ key: id, value: sum(own.map((chunk) => chunk.total_compressed_size)) })
    stats.value_counts.push({ key: id, value: values })
    if (!nulls.includes(null)) stats.null_value_counts.push({ key: id, value: sum(nulls) })
    const withValues = own.filter(({ num_values, stats_null_count }) => num_values !== stats_null_count)
    const lower = boundOf(
      withValues.map(({ stats_min_value }) => stats_min_value),
      type,
      'lower',
    )
    const upper = boundOf(
      withValues.map(({ stats_max_value }) => stats_max_value),
      type,
      'upper',
    )
    if (lower !== undefined) stats.lower_bounds.push({ key: id, value: lower })
    if (upper !== undefined) stats.upper_bounds.push({ key: id, value: upper })
  }
  return stats
}

/** Returns the bound of all row groups in the binary notation of the specification ("Single-value serialization"). */
function boundOf(
  texts: readonly (string | null)[],
  type: string,
  side: 'lower' | 'upper',
): Buffer | undefined {
  // Bounds of decimals are optional, and no reader skips files by them here.
  if (texts.length === 0 || texts.includes(null) || type.startsWith('decimal')) return undefined
  const bounds = texts.map((text) => encode(text ?? '', type))
  const compare = type === 'string' || type === 'boolean' ? Buffer.compare : compareIntegers
  const sorted = bounds.toSorted(compare)
  const extreme = side === 'lower' ? sorted[0] : sorted.at(-1)
  return extreme === undefined || type !== 'string' ? extreme : truncate(extreme, side)
}

const compareIntegers = (left: Buffer, right: Buffer): number => {
  const difference = readInteger(left) - readInteger(right)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

const readInteger = (bytes: Buffer): bigint =>
  bytes.length === 4 ? BigInt(bytes.readInt32LE()) : bytes.readBigInt64LE()

function encode(text: string, type: string): Buffer {
  if (type === 'boolean') return Buffer.from([text === 'true' ? 1 : 0])
  if (type === 'int') {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32LE(Number(text))
    return bytes
  }
  if (type === 'string') return Buffer.from(text)
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(type === 'timestamptz' ? microsecondsOf(text) : BigInt(text))
  return bytes
}

/** `2023-11-14 22:13:22.001+00` in microseconds since 1970. */
function microsecondsOf(text: string): bigint {
  const [, day, time, fraction = ''] = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?/.exec(text) ?? []
  return BigInt(Date.parse(`${day}T${time}Z`)) * 1_000n + BigInt(fraction.padEnd(6, '0'))
}

/** Long text is cut to 16 characters, as other writers do; an upper bound is then raised, or left out if that is impossible. */
function truncate(bytes: Buffer, side: 'lower' | 'upper'): Buffer | undefined {
  const characters = [...bytes.toString()]
  if (characters.length <= BOUND_CHARACTERS) return bytes
  const kept = characters.slice(0, BOUND_CHARACTERS)
  if (side === 'lower') return Buffer.from(kept.join(''))
  while (kept.length > 0) {
    const next = (kept.pop()?.codePointAt(0) ?? 0) + 1
    // Surrogates are no characters.
    if (next < 0xd800 || (next > 0xdfff && next <= 0x10ffff))
      return Buffer.from(kept.join('') + String.fromCodePoint(next))
  }
  return undefined
}

const BOUND_CHARACTERS = 16
