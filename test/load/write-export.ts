import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DEFAULT_TABLES, type TableName } from '../../src/core/table/index.ts'
import type { Cells, Lake } from '../verify/export/model-export.ts'
import {
  type FileEntry,
  type ManifestDraft,
  saveManifest,
  type Writing,
  writeLake,
} from '../verify/export/write-model-export.ts'

export type ExportOptions = Writing & {
  /** Block boundaries of the files, from the first block to the end. @default [0, 200, 300, 1000] */
  cuts?: readonly number[]
  name?: string
  /** Any text that distinguishes one list of wallets from another. */
  wallets?: string
}

/**
 * Writes an output as several runs would write it: per block range, each table has one file (the ledger up to two),
 * named and listed by its range.
 */
export async function writeExport(
  folder: string,
  lake: Lake,
  options: ExportOptions = {},
): Promise<ManifestDraft> {
  const { cuts = [0, 200, 300, 1000], name = 'demo', wallets = 'ours', tables = DEFAULT_TABLES } = options
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  let whole: ManifestDraft | undefined
  for (const [at, from] of cuts.slice(0, -1).entries()) {
    const to = cuts[at + 1] ?? from
    const part = join(folder, '.part')
    const manifest = await writeLake(part, within(lake, from, to), { ...options, tables })
    for (const table of tables) {
      const listed = manifest.tables[table]
      if (listed !== undefined)
        listed.files = listed.files.map((file, n) => moveFile({ file, n, part, folder, table, from, to }))
    }
    rmSync(part, { recursive: true })
    whole = whole === undefined ? manifest : joined(whole, manifest)
  }
  const addressesSha256 = createHash('sha256').update(wallets).digest('hex')
  const coverage = whole?.coverage.map((wallet) => ({
    ...wallet,
    transactions: lake.wallet_transactions.filter((row) => row.wallet_address === wallet.address).length,
  }))
  const manifest = {
    ...whole,
    coverage,
    job: { ...whole?.job, name, addressesSha256, endBlock: null },
  } as ManifestDraft
  await saveManifest(folder, manifest)
  return manifest
}

/** Filters the rows of blocks `from` to `to` (exclusive). */
export function within(lake: Lake, from: number, to: number): Lake {
  const kept = (rows: readonly Cells[]) =>
    rows.filter(({ block_number: block }) => Number(block) >= from && Number(block) < to)
  return Object.fromEntries(DEFAULT_TABLES.map((table) => [table, kept(lake[table])])) as Lake
}

type Move = {
  file: FileEntry
  n: number
  part: string
  folder: string
  table: TableName
  from: number
  to: number
}

function moveFile({ file, n, part, folder, table, from, to }: Move): FileEntry {
  const blocks = [from, to].map((block) => String(block).padStart(12, '0')).join('-')
  const ending = /\.(?:csv\.gz|csv|parquet)$/.exec(file.path)?.[0] ?? ''
  const path = `${table}/${table}-${blocks}-${String(n).padStart(4, '0')}${ending}`
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  renameSync(join(part, file.path), join(folder, path))
  return { ...file, path, fromBlock: from, toBlock: to }
}

function joined(a: ManifestDraft, b: ManifestDraft): ManifestDraft {
  const tables = Object.entries(a.tables).map(([name, { rows, columns, files }]) => {
    const other = b.tables[name] ?? { rows: 0, files: [] }
    return [name, { rows: rows + other.rows, columns, files: [...files, ...other.files] }]
  })
  return { ...a, tables: Object.fromEntries(tables) }
}

/** Reads the manifest of a written output. */
export function readDraft(folder: string): ManifestDraft {
  return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as ManifestDraft
}
