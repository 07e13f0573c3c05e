import { type ColumnType, TABLE_NAMES, type TableName } from '../table/index.ts'
import type { Api } from './api.ts'
import type { AssetType } from './asset.ts'
import type { Compression, FormatName, PartitionBy, RestCatalog, Wraps } from './model.ts'

/** `manifest.json` (CONTRACT section 3.1): the content of an export. Readers trust only what it lists. */
export type Manifest = {
  manifestVersion: 1
  schemaVersion: number
  generator: string
  job: ManifestJob
  coverage: Coverage[]
  /** The smallest `toBlock` of the wallets of the job; absent in block jobs and in manifests of older versions. */
  completeToBlock?: number
  /** Only in block jobs. */
  blocks?: ManifestBlocks
  tables: Partial<Record<TableName, ManifestTable>>
  rejects: number
  /** Transactions whose status is unknown; absent in manifests of older versions. */
  statusUnknown?: number
  /** Transactions sent by a wallet of the export whose fee is unknown or zero; absent in manifests of older versions. */
  feeUnknown?: number
  /** Transactions sent by a wallet of the export whose fee is an upper bound; absent if there are none. */
  feesUpperBound?: number
  /** Contracts whose rows disagree on the decimals of a token; absent if there are none. */
  decimalsConflict?: number
  /** Balances before the first block that the service reports, such as the coins at genesis; absent if there are none. */
  opening?: OpeningBalance[]
}

/** What a wallet held before the first block of the export; numbers as exact digits. */
export type OpeningBalance = {
  walletAddress: string
  assetType: AssetType
  /** Null for the native coin. */
  assetAddress: string | null
  tokenId: string | null
  /** In the smallest unit. */
  value: string
}

export type Coverage = {
  address: string
  fromBlock: number
  /**
   * Exclusive. The wallet has all rows before it: the service had demonstrably indexed these blocks when it answered for
   * the wallet. The tables may have rows above it, and the next run reads from there.
   */
  toBlock: number
  transactions: number
  /** Label in the wallet's rows, null for none; absent in manifests of older versions. */
  label?: string | null
  /**
   * Error message of the service if it refused the wallet's listing: blocks from `toBlock` on were not read.
   */
  error?: string
  /** Blocks of a listing that the service could not list although it answered for the wallet; absent if there are none. */
  gaps?: ManifestGap[]
  /** The wallet is no longer in the job; the export retains its rows up to `toBlock`. */
  removed?: true
}

/** `listing` is the service's name of it, and `toBlock` exclusive. */
export type ManifestGap = { listing: string; fromBlock: number; toBlock: number; reason: string }

/** Coverage of a block job, which exports whole blocks. */
export type ManifestBlocks = {
  fromBlock: number
  /** Exclusive. */
  toBlock: number
  /** Blocks in this range that the service did not have, in ascending order. `toBlock` is exclusive. */
  missing: { fromBlock: number; toBlock: number }[]
}

export type ManifestJob = {
  name: string
  /** Only in block jobs; absent in wallet jobs. */
  kind?: 'blocks'
  chain: string
  startBlock: number
  /** From the job; null if the job ends at the head of the chain, which is pinned when the run starts. */
  endBlock: number | null
  format: FormatName
  compression: Compression
  /** Only if the tables of the export are Iceberg tables. */
  table?: 'iceberg'
  /** The catalog of the Iceberg tables, if it is not the files of `metadata/`. */
  catalog?: RestCatalog
  /** `decimal` if the files also have columns of decimals; otherwise absent. */
  numbers?: 'decimal'
  /** Absent if the files of each table are directly in its folder. */
  partitionBy?: PartitionBy
  /** Symbol of the native coin in the ledger's rows; absent in manifests of older versions. */
  nativeSymbol?: string | null
  /** Absent in manifests of older versions, whose ledgers have no rows for wrapping. */
  wraps?: Wraps
  /** Contracts that the job adds to the wrapped coins of the table of chains, in lower case; absent if there are none. */
  wrappedCoins?: string[]
  /** Only if atomic transactions were read. */
  atomic?: true
  /**
   * Only for CSV: whether text that a spreadsheet would evaluate is prefixed with `'`; absent in manifests of
   * older versions.
   */
  escapeFormulas?: boolean
  /**
   * Only in wallet jobs: `listed` if a fee may be an upper bound, the job takes listed prices, or the source may misstate
   * them; absent in manifests of older versions.
   */
  fees?: 'exact' | 'listed'
  /** `full` if internal transactions were read from their own listing too; otherwise absent. */
  internals?: 'full'
  /** The API that the export was read from; absent for `data-api`. */
  api?: Api
  /** Number of addresses. */
  addresses: number
  /** SHA-256 of the sorted lower-case addresses, one per line. */
  addressesSha256: string
}

export type ManifestTable = {
  rows: number
  columns: { name: string; type: ColumnType; nullable: boolean }[]
  /** With `numbers: decimal`: number of rows with a number that does not fit its decimal column; absent if there are none. */
  notDecimal?: number
  files: ManifestFile[]
}

export type ManifestFile = {
  /** Relative to the manifest, with forward slashes. */
  path: string
  rows: number
  bytes: number
  sha256: string
  fromBlock: number
  /** Exclusive. */
  toBlock: number
  /** As in the table. */
  notDecimal?: number
}

/** Returns one past the last block of which an export may have rows. */
export function endOfExport({ coverage, tables }: Pick<Manifest, 'coverage' | 'tables'>): number {
  const files = Object.values(tables).flatMap((table) => table.files)
  return [...coverage, ...files].reduce((end, { toBlock }) => Math.max(end, toBlock), 0)
}

/** Returns one past the last block of which an export may have rows of a wallet: above its coverage if it is read again. */
export function rowsEndOf(
  { toBlock, error, removed }: Coverage,
  manifest: Pick<Manifest, 'coverage' | 'tables'>,
): number {
  return error !== undefined || removed === true ? toBlock : endOfExport(manifest)
}

/**
 * Returns the exclusive end up to which an export is complete, apart from wallets that the service refused and those that
 * are no longer in the job.
 */
export function completeEnd(manifest: Pick<Manifest, 'coverage' | 'tables'>): number {
  const answered = manifest.coverage.filter(({ error, removed }) => error === undefined && removed !== true)
  return answered.reduce((end, { toBlock }) => Math.min(end, toBlock), endOfExport(manifest))
}

export const MANIFEST_FILE = 'manifest.json'
export const REJECTS_FILE = 'rejects.ndjson'
/** The verdict of the last `reconcile`; the manifest does not list it. */
export const RECONCILIATION_FILE = 'reconciliation.json'
/** Lists of rows that a run removed from, or added to, blocks of an earlier export. */
export const CHANGES_FOLDER = 'changes'
/** Run reports: one file per run, with its statistics. */
export const RUNS_FOLDER = 'runs'
/** The output's private folder: checkpoints, lock, unfinished parts. */
export const PRIVATE_FOLDER = '.walletlake'
/** Names that walletlake creates in an output folder. Other entries of the folder are not touched. */
export const EXPORT_ENTRIES: ReadonlySet<string> = new Set([
  MANIFEST_FILE,
  REJECTS_FILE,
  CHANGES_FOLDER,
  PRIVATE_FOLDER,
  RUNS_FOLDER,
  'raw',
  RECONCILIATION_FILE,
  ...TABLE_NAMES,
])
