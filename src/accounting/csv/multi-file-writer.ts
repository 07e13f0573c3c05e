import type { ImportRow, Labels, TransactionFacts } from '../import-rows.ts'
import type { Movement } from '../movement.ts'
import type { Preset } from './preset.ts'

/** A program that takes several files at once, each with columns of its own. */
export type MultiFileWriter = {
  name: string
  title: string
  files: readonly OutputFileFormat[]
  /** Whether each wallet has its own ones. */
  isPerWallet: boolean
  /** Whether lines say what only the table of transactions knows. */
  needsTransactions: boolean
  /** Where the movements of one transaction stand, in the order of the ledger. */
  placementsOf(movements: readonly Movement[], options: PlacementOptions): Placement[]
  source: string
  rulesOf: string
  unverified?: string
}

/** One of the files; `{wallet}` in its name stands for the address. */
export type OutputFileFormat = Preset & { file: string }

type PlacementOptions = { labelOf: Labels; facts: TransactionFacts | undefined }

/** Where a line stands; `reason` is why it stands nowhere, `isTold` says that another line tells of it already. */
export type Placement = { row: ImportRow } & (
  | { format: OutputFileFormat; isAlreadyWritten?: boolean }
  | { reason: string }
)
