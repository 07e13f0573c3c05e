import { type ColumnType, TABLE_NAMES, type TableName } from '../table/index.ts'
import type { Compression, Format, PartitionBy } from './model.ts'

/** `manifest.json` (CONTRACT section 3.1): what is in an output. Readers trust only what it lists. */
export type Manifest = {
  manifestVersion: 1
  schemaVersion: number
  generator: string
  job: ManifestJob
  coverage: Coverage[]
  /** In a job of blocks only. */
  blocks?: ManifestBlocks
  tables: Partial<Record<TableName, ManifestTable>>
  rejects: number
  /** Transactions whose status is unknown; absent in manifests of older versions. */
  statusUnknown?: number
  /** Transactions sent by a wallet of the export whose fee is unknown or zero; absent in manifests of older versions. */
  feeUnknown?: number
}

export type Coverage = {
  address: string
  fromBlock: number
  /** Exclusive. */
  toBlock: number
  transactions: number
  /** What its rows are labelled with, null: nothing; absent in manifests of older versions. */
  label?: string | null
  /** What the service said where it refused the wallet's listing: blocks from `toBlock` on are not read. */
  error?: string
  /** The wallet is not in the job any more; its rows stay up to `toBlock`. */
  removed?: true
}

/** Whole blocks, whoever took part in them. */
export type ManifestBlocks = {
  fromBlock: number
  /** Exclusive. */
  toBlock: number
  /** Blocks in between that the service did not have, in order; half-open like the whole. */
  missing: { fromBlock: number; toBlock: number }[]
}

type ManifestJob = {
  name: string
  /** In a job of blocks only: without it, the job is one of wallets. */
  kind?: 'blocks'
  chain: string
  startBlock: number
  /** As the job says it; null: the head, pinned at the run's start. */
  endBlock: number | null
  format: Format
  compression: Compression
  /** Absent: files lie in their table's folder. */
  partitionBy?: PartitionBy
  /** Symbol of the chain's coin in the ledger's rows; absent in manifests of older versions. */
  nativeSymbol?: string | null
  /** Of CSV: whether text that a spreadsheet would run has a `'` before it; absent in manifests of older versions. */
  escapeFormulas?: boolean
  /** How many. */
  addresses: number
  /** SHA-256 of the sorted lower-case addresses, a line each. */
  addressesSha256: string
}

export type ManifestTable = {
  rows: number
  columns: { name: string; type: ColumnType; nullable: boolean }[]
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
}

export const MANIFEST_FILE = 'manifest.json'
export const REJECTS_FILE = 'rejects.ndjson'
/** Lists of rows that a run removed from, or added to, blocks that an earlier one had exported. */
export const CHANGES_FOLDER = 'changes'
/** What each run did: its figures, in a file of their own. */
export const RUNS_FOLDER = 'runs'
/** The output's private folder: checkpoints, lock, unfinished parts. */
export const PRIVATE_FOLDER = '.walletlake'
/** What runs make in an output; what else lies in its folder is none of theirs. */
export const EXPORT_ENTRIES: ReadonlySet<string> = new Set([
  ...[MANIFEST_FILE, REJECTS_FILE, CHANGES_FOLDER, PRIVATE_FOLDER, RUNS_FOLDER, 'raw'],
  ...TABLE_NAMES,
])
