import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { type Column, DEFAULT_TABLES, type TableName, tableByName } from '../../../src/core/table/index.ts'
import { A, B, C, type Cells, CHAIN, type Lake } from './model-export.ts'

type Ending = 'csv' | 'csv.gz' | 'parquet'
export type FileEntry = {
  path: string
  rows: number
  bytes: number
  sha256: string
  fromBlock: number
  toBlock: number
}
export type ManifestDraft = {
  job: Record<string, unknown>
  coverage: { address: string; fromBlock: number; toBlock: number; transactions: number }[]
  tables: Record<string, { rows: number; columns: Record<string, unknown>[]; files: FileEntry[] }>
  [field: string]: unknown
}
export type Writing = {
  ending?: Ending
  tables?: readonly TableName[]
  /** Write ' before text that a spreadsheet would evaluate. @default true */
  escapeFormulas?: boolean
  /** Changes the text of a table's CSV before it is written and hashed. */
  edit?: Partial<Record<TableName, (csv: string) => string>>
  /** Parquet column types that replace those of the contract, by `table.column`. */
  types?: Record<string, string>
}

/**
 * Writes an output folder: the ledger in two files, every other table in one, and a manifest that matches the files.
 */
export async function writeLake(folder: string, lake: Lake, writing: Writing = {}): Promise<ManifestDraft> {
  const { ending = 'csv', tables = DEFAULT_TABLES } = writing
  const manifest: ManifestDraft = {
    manifestVersion: 1,
    schemaVersion: 1,
    generator: 'walletlake 0.1.0',
    job: {
      name: 'demo',
      chain: CHAIN,
      startBlock: 0,
      endBlock: 1000,
      ...formatOf(ending),
      addresses: 3,
      addressesSha256: createHash('sha256').update([A, B, C].join('\n')).digest('hex'),
    },
    coverage: [A, B, C].map((address) => ({
      address,
      fromBlock: 0,
      toBlock: 1000,
      transactions: seenBy(lake, address),
    })),
    completeToBlock: 1000,
    tables: {},
    rejects: 0,
    decimalsConflict: 1,
  }
  for (const name of tables)
    manifest.tables[name] = await writeTable(folder, name, { rows: lake[name], ending, writing })
  await saveManifest(folder, manifest)
  return manifest
}

export async function saveManifest(folder: string, manifest: unknown): Promise<void> {
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
}

function formatOf(ending: Ending): Record<string, string> {
  if (ending === 'parquet') return { format: 'parquet', compression: 'zstd' }
  return { format: 'csv', compression: ending === 'csv' ? 'none' : 'gzip' }
}

function seenBy(lake: Lake, address: string): number {
  return lake.wallet_transactions.filter((row) => row.wallet_address === address).length
}

type Part = { rows: readonly Cells[]; ending: Ending; writing: Writing }

async function writeTable(folder: string, name: TableName, { rows, ending, writing }: Part) {
  const cut = name === 'ledger' ? 8 : rows.length
  const parts = [rows.slice(0, cut), rows.slice(cut)].filter((part, at) => at === 0 || part.length > 0)
  const files: FileEntry[] = []
  for (const [at, part] of parts.entries()) {
    const [fromBlock, toBlock] = [
      Number(part[0]?.block_number ?? 0),
      Number(part.at(-1)?.block_number ?? 0) + 1,
    ]
    const blocks = [fromBlock, toBlock].map((block) => String(block).padStart(12, '0')).join('-')
    const path = `${name}/${name}-${blocks}-${String(at).padStart(4, '0')}.${ending}`
    await writePart(join(folder, path), name, { rows: part, ending, writing })
    const bytes = await readFile(join(folder, path))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    files.push({ path, rows: part.length, bytes: bytes.length, sha256, fromBlock, toBlock })
  }
  const columns = tableByName(name).columns.map(({ name: column, type, nullable }) => ({
    name: column,
    type,
    nullable,
  }))
  return { rows: rows.length, columns, files }
}

async function writePart(path: string, name: TableName, { rows, ending, writing }: Part): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const escapes = ending !== 'parquet' && (writing.escapeFormulas ?? true)
  const csv = (writing.edit?.[name] ?? String)(toCsv(name, rows, escapes))
  if (ending === 'csv') await writeFile(path, csv)
  if (ending === 'csv.gz') await writeFile(path, gzipSync(csv))
  if (ending === 'parquet') await writeParquet(path, name, { csv, types: writing.types ?? {} })
}

function toCsv(name: TableName, rows: readonly Cells[], escapes: boolean): string {
  const { columns } = tableByName(name)
  const lines = rows.map((row) =>
    columns.map((column) => toField(row[column.name] ?? null, column, escapes)).join(','),
  )
  return `${[columns.map((column) => column.name).join(','), ...lines].join('\n')}\n`
}

function toField(cell: string | null, { type }: Column, escapes: boolean): string {
  if (cell === null) return ''
  const safe = escapes && type === 'text' && /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const TYPES = { int32: 'INTEGER', int64: 'BIGINT', bool: 'BOOLEAN', time: 'TIMESTAMPTZ' } as const

async function writeParquet(
  path: string,
  name: TableName,
  from: { csv: string; types: Record<string, string> },
) {
  await writeFile(`${path}.csv`, from.csv)
  const columns = tableByName(name).columns.map((column) => {
    const type = from.types[`${name}.${column.name}`] ?? TYPES[column.type as keyof typeof TYPES] ?? 'VARCHAR'
    return `'${column.name}': '${type}'`
  })
  const source = `read_csv('${path}.csv', header = true, auto_detect = false, max_line_size = 16000000, new_line = '\\n', quote = '"', escape = '"', columns = {${columns.join(', ')}})`
  const engine = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await engine.connect()
  await connection.run(`COPY (SELECT * FROM ${source}) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`)
  connection.closeSync()
  engine.closeSync()
  await rm(`${path}.csv`)
}
