import type { Dataset } from '../read/dataset.ts'
import type { ConversionPrices } from './conversion-prices.ts'
import { createImportRowWriter, type ImportRowWriter, type Omitted } from './csv/import-row-writer.ts'
import type { Preset } from './csv/preset.ts'
import type { LabelFindings } from './labels.ts'
import type { Asset, Movement } from './movement.ts'
import type { Contracts } from './names/contracts.ts'
import type { PlaceholderOf } from './names/placeholders.ts'
import { walletNamer } from './names/wallet-names.ts'
import type { ConvertOptions } from './options.ts'
import type { RefusalReasonOf } from './precision-limits.ts'

/** Output text of one transaction or second, and the file that it belongs to. */
export type TextChunk = {
  /** A movement of the wallet that the text belongs to. */
  wallet: Movement
  text: string
  /** Number of CSV rows or journal entries in the text. */
  lines: number
  /** Number of further rows that were merged into these. @default 0 */
  merged?: number
  /** The file of a multi-file format; undefined for other formats. */
  outputFile?: OutputFile
}

export type OutputFile = { file: string; header: string }

/** Placeholders of tokens without a ticker, in the order of their first rows, and the file that says what they stand for. */
export type UsedPlaceholders = { names: string[]; file: string }

/** Writes transactions as the text of a format. */
export type TextWriter = {
  /** The header of each file. */
  header: string
  /** Files that are written even if they have no rows; undefined for formats of one file. */
  outputFiles: readonly OutputFile[] | undefined
  /** Writes the movements of one transaction or, with `isPerSecond`, of all transactions of one second. */
  write(movements: readonly Movement[]): TextChunk[] | Promise<TextChunk[]>
  isPerSecond?: boolean
  /** Whether the rows have no types, because they show movements as an explorer does. @default false */
  isUntyped?: boolean
  /** The placeholders of the rows written so far; undefined if there are none. */
  placeholders?(): UsedPlaceholders | undefined
  /** Problems with the user's labels found so far. */
  labelFindings(): LabelFindings
  /** Releases resources; called after errors too. */
  close(): Promise<void>
}

/** An export whose ledger is written. `chain` is the id of its chain. */
export type WrittenExport = { output: string; opened: Dataset; chain: string; contracts: Contracts }

/** Everything that a writer needs. */
export type WriterContext = {
  options: ConvertOptions
  sources: readonly WrittenExport[]
  /** Opening balances, which precede the rows of the ledger. */
  opening: readonly Movement[]
  /** The user's prices, if given. */
  prices: ConversionPrices | undefined
  onOmitted: (omitted: Omitted) => void
  onUnpriced: (asset: Asset) => void
}

/** Groups consecutive movements of the same wallet and transaction. */
export function groupByWallet(movements: readonly Movement[]): [Movement, ...Movement[]][] {
  const groups: [Movement, ...Movement[]][] = []
  for (const movement of movements) {
    const last = groups.at(-1)
    if (last?.[0].wallet === movement.wallet && last[0].transaction === movement.transaction)
      last.push(movement)
    else groups.push([movement])
  }
  return groups
}

/** Look-ups of assets that differ between formats. */
type AssetRules = {
  /** Returns the placeholder of an asset, for formats with placeholders. */
  placeholderOf?: PlaceholderOf
  refusalReasonOf: RefusalReasonOf
}

/** Creates the writer of the rows of one CSV file. */
export function importRowWriterFor(
  preset: Preset,
  { options, sources, prices, onOmitted, onUnpriced }: WriterContext,
  { placeholderOf = () => '', refusalReasonOf }: AssetRules,
): ImportRowWriter {
  const manifests = sources.map(({ opened }) => opened.manifest)
  const wallets = manifests.flatMap(({ coverage }) => coverage)
  return createImportRowWriter({
    preset,
    prices,
    placeholderOf,
    refusalReasonOf,
    onOmitted,
    onUnpriced,
    chainName: options.chainName,
    walletNameOf: walletNamer(wallets, preset),
    // Only the format of explorers has the coin in its headers, and it is for one export.
    coin: manifests[0]?.job.nativeSymbol ?? undefined,
  })
}
