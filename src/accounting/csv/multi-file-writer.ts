import type { AcceptsSwap, ImportRow, Labels, TransactionSummary } from '../import-rows.ts'
import type { Movement } from '../movement.ts'
import type { Preset } from './preset.ts'

/** An import format that consists of several files with different columns. */
export type MultiFileWriter = {
  name: string
  title: string
  files: readonly OutputFileFormat[]
  /** Whether each wallet has its own set of files. */
  isPerWallet: boolean
  /** Whether rows contain columns that only the transactions table has. */
  needsTransactions: boolean
  /** Assigns the movements of one transaction to files, in ledger order. */
  placementsOf(movements: readonly Movement[], options: PlacementOptions): Placement[]
  /** `source`, `rulesOf` and `unverified` as in `Preset`. */
  source: string
  rulesOf: string
  unverified?: string
}

/** The format of one of the files. `{wallet}` in the file name stands for the wallet's address. */
export type OutputFileFormat = Preset & { file: string }

type PlacementOptions = {
  labelOf: Labels
  transaction: TransactionSummary | undefined
  /** Undefined if no swap may be one row. */
  acceptsSwap: AcceptsSwap | undefined
}

/**
 * The file that a row belongs to, or the `reason` why it is omitted. `isAlreadyWritten` marks the second side of a
 * transfer between own wallets, which the row of the first side already represents.
 */
export type Placement = { row: ImportRow } & (
  | { format: OutputFileFormat; isAlreadyWritten?: boolean }
  | { reason: string }
)
