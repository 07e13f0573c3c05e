import type { Labels, Line, TransactionFacts } from '../import-rows.ts'
import type { Movement } from '../movement.ts'
import type { Preset } from './preset.ts'

/** A program that takes several files at once, each with columns of its own. */
export type FileSet = {
  name: string
  title: string
  files: readonly FileForm[]
  /** Whether each wallet has its own ones. */
  isPerWallet: boolean
  /** Whether lines say what only the table of transactions knows. */
  needsTransactions: boolean
  /** Where the movements of one transaction stand, in the order of the ledger. */
  placesOf(movements: readonly Movement[], options: PlacingOptions): Place[]
  source: string
  rulesOf: string
  unverified?: string
}

/** One of the files; `{wallet}` in its name stands for the address. */
export type FileForm = Preset & { file: string }

type PlacingOptions = { labelOf: Labels; facts: TransactionFacts | undefined }

/** Where a line stands; `reason` is why it stands nowhere, `isTold` says that another line tells of it already. */
export type Place = { line: Line } & ({ form: FileForm; isTold?: boolean } | { reason: string })
