import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Compression } from '../model.ts'
import type { Cell, Column, ColumnType, Row, Table } from '../table/index.ts'
import { openHashedFile, type PartWriter } from './part-file.ts'

export type ParquetOptions = { path: string; table: Table; compression: Compression }

/**
 * Writes a table as Parquet by DuckDB (CONTRACT section 3): rows are staged as JSON lines in their final order, and one
 * COPY turns them into a file with version 1 pages, dictionaries, statistics and row groups of about 100,000 rows.
 * One thread and kept insertion order give the same bytes on every run.
 */
export function openParquet({ path, table, compression }: ParquetOptions): PartWriter {
  const staged = `${path}.ndjson`
  const stage = openHashedFile(staged, { gzip: false })
  let longest = 0
  return {
    write: async (rows) => {
      const lines = rows.map((row) => stagedLine(row, table.columns))
      for (const line of lines) longest = Math.max(longest, line.length)
      await stage.write(`${lines.join('\n')}\n`)
    },
    finish: async () => {
      await stage.finish()
      await copyToParquet({ staged, path, table, compression, longest })
      await rm(staged)
      return measureFile(path)
    },
    abandon: async () => {
      await stage.abandon()
      await Promise.all([rm(staged, { force: true }), rm(path, { force: true })])
    },
  }
}

/** Keys are positions: short, and never a stranger's word. */
function stagedLine(row: Row, columns: readonly Column[]): string {
  const cells = row.map((cell, at) => `"${at}":${stagedCell(cell, columns[at]?.type ?? 'text')}`)
  return `{${cells.join(',')}}`
}

function stagedCell(cell: Cell, type: ColumnType): string {
  if (cell === null) return 'null'
  if (type === 'time') return `"${new Date(Number(cell)).toISOString()}"`
  return typeof cell === 'string' ? JSON.stringify(cell) : String(cell)
}

const DUCKDB_TYPES: Record<ColumnType, string> = {
  text: 'VARCHAR',
  int32: 'INTEGER',
  int64: 'BIGINT',
  bool: 'BOOLEAN',
  time: 'TIMESTAMPTZ',
  u256: 'VARCHAR',
  i256: 'VARCHAR',
  decimal: 'VARCHAR',
}

type Copy = ParquetOptions & { staged: string; longest: number }

async function copyToParquet({ staged, path, table, compression, longest }: Copy): Promise<void> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: '400MB',
    preserve_insertion_order: 'true',
    temp_directory: `${path}.tmp`,
  })
  try {
    const connection = await instance.connect()
    await connection.run(copyStatement({ staged, path, table, compression, longest }))
    connection.closeSync()
  } finally {
    instance.closeSync()
    await rm(`${path}.tmp`, { recursive: true, force: true })
  }
}

function copyStatement({ staged, path, table, compression, longest }: Copy): string {
  const columns = table.columns.map(({ type }, at) => `"${at}": '${DUCKDB_TYPES[type]}'`).join(', ')
  const names = table.columns.map(({ name }, at) => `"${at}" as "${name}"`).join(', ')
  const source = `read_json(${quote(staged)}, format = 'newline_delimited', columns = {${columns}}, maximum_object_size = ${Math.max(1 << 20, longest * 4)})`
  const codec = compression === 'none' ? 'uncompressed' : compression
  const options = `format parquet, compression ${codec}, parquet_version v1, row_group_size 100000`
  return `copy (select ${names} from ${source}) to ${quote(path)} (${options})`
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

async function measureFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}
