import type { Cells, Lake } from '../model-export.ts'
import type { FileEntry, ManifestDraft, Writing } from '../write-model-export.ts'

/** One way to damage a valid export. */
export type Tampering = {
  what: string
  /** Matches the expected problem line, which names the location. */
  says: RegExp
  rows?: (lake: Lake) => void
  writing?: Writing
  manifest?: (manifest: ManifestDraft) => void
  /** Changes the folder after everything is written. */
  after?: (folder: string) => Promise<void>
}

export const at = (rows: readonly Cells[], index: number): Cells => rows[index] as Cells
export const set = (rows: readonly Cells[], index: number, cells: Cells) =>
  void Object.assign(at(rows, index), cells)
export const swap = (rows: Cells[], index: number) =>
  void rows.splice(index, 2, at(rows, index + 1), at(rows, index))
export const file = (manifest: ManifestDraft, table: string, index = 0) =>
  manifest.tables[table]?.files[index] as FileEntry
export const covered = (manifest: ManifestDraft, index: number) =>
  manifest.coverage[index] as ManifestDraft['coverage'][number]
export const ERC20 = 'erc20_transfers/erc20_transfers-000000000100-000000000302-0000.csv'
export const TRANSACTIONS = 'transactions/transactions-000000000100-000000000302-0000.csv'
