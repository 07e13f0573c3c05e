import type { Prices } from '../ledger/prices/prices.ts'
import type { OpenExport } from '../read/open-export.ts'
import { createImportRowWriter, type ImportRowWriter, type Omitted } from './csv/import-row-writer.ts'
import type { Preset } from './csv/preset.ts'
import type { LabelFindings } from './labels.ts'
import type { Asset, Movement } from './movement.ts'
import type { Contracts } from './names/contracts.ts'
import type { PlaceholderOf } from './names/placeholders.ts'
import { walletNames } from './names/wallet-names.ts'
import type { ConvertOptions } from './options.ts'
import type { Period } from './period.ts'
import type { RefusalReasonOf } from './precision-limits.ts'

/** Text of a transaction, and the file that it belongs to. */
export type TextChunk = {
  /** A movement of the wallet that the text is about. */
  wallet: Movement
  text: string
  /** Lines, or entries of a journal. */
  lines: number
  /** Which of a program's files, and what that one begins with; undefined where there is one alone. */
  outputFile?: OutputFile
}

export type OutputFile = { file: string; header: string }

/** Makes the text of a format out of transactions. */
export type TextWriter = {
  /** What a file begins with. */
  header: string
  /** Files that a program takes even where nothing stands in them; undefined where it takes one file. */
  outputFiles: readonly OutputFile[] | undefined
  write(movements: readonly Movement[]): TextChunk[] | Promise<TextChunk[]>
  /** What became of the user's labels until now. */
  labelFindings(): LabelFindings
  /** Ends, whatever became of it. */
  close(): Promise<void>
}

/** What a writer is opened with. */
export type WriterContext = {
  output: string
  options: ConvertOptions
  opened: OpenExport
  period: Period
  contracts: Contracts
  /** The user's, if there are any. */
  prices: Prices | undefined
  onOmitted: (omitted: Omitted) => void
  onUnpriced: (asset: Asset) => void
}

/** The movements of each wallet in turn. */
export function groupByWallet(movements: readonly Movement[]): [Movement, ...Movement[]][] {
  const groups: [Movement, ...Movement[]][] = []
  for (const movement of movements) {
    const last = groups.at(-1)
    if (last?.[0].wallet === movement.wallet) last.push(movement)
    else groups.push([movement])
  }
  return groups
}

/** What the writer of a file's lines asks about assets. */
type AssetRules = {
  /** Names assets where the program numbers those that it does not know. */
  placeholderOf?: PlaceholderOf
  refusalReasonOf: RefusalReasonOf
}

/** The writer of a file's lines. */
export function importRowWriterFor(
  preset: Preset,
  { options, opened, prices, onOmitted, onUnpriced }: WriterContext,
  { placeholderOf = () => '', refusalReasonOf }: AssetRules,
): ImportRowWriter {
  const { coverage, job } = opened.manifest
  return createImportRowWriter({
    ...{
      preset,
      prices,
      placeholderOf,
      refusalReasonOf,
      onOmitted,
      onUnpriced,
      chainName: options.chainName,
    },
    ...{ walletNames: walletNames(coverage), coin: job.nativeSymbol ?? undefined },
  })
}
