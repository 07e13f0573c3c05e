import type { Prices } from '../ledger/prices/prices.ts'
import type { Dataset } from '../read/dataset.ts'
import type { LabelFindings } from './labels.ts'
import type { Asset, Movement, Omitted } from './movement.ts'
import type { Contracts } from './names/contracts.ts'
import type { ConvertOptions } from './options.ts'

/** A file of a conversion: its name within the folder `out`, or '' for `out` itself, and the header that it starts with. */
export type OutputFile = { name: string; header: string }

/** Output text of one transaction or second, and the file that it belongs to. */
export type TextChunk = {
  file: OutputFile
  text: string
  /** Number of CSV rows or journal entries in the text. */
  lines: number
  /** Number of further rows that were merged into these. @default 0 */
  merged?: number
}

/** Placeholders of tokens without a ticker, in the order of their first rows, and the file that says what they stand for. */
export type UsedPlaceholders = { names: string[]; file: string }

/** Writes transactions as the text of a format. */
export type TextWriter = {
  /** Files that are written even if they have no rows. */
  files: readonly OutputFile[]
  /** Writes the movements of one transaction or, with `isPerSecond`, of all transactions of one second. */
  write(movements: readonly Movement[]): TextChunk[] | Promise<TextChunk[]>
  isPerSecond?: boolean
  /**
   * Counts the movements of a transaction before the converted period. Set only if later lines depend on them, because amounts are
   * rounded.
   */
  skip?: ((movements: readonly Movement[]) => void) | undefined
  /** Whether the rows have no types, because they show movements as an explorer does. @default false */
  isUntyped?: boolean
  /** The placeholders of the rows written so far; undefined if there are none. */
  placeholders?(): UsedPlaceholders | undefined
  /** Problems with the user's labels found so far. */
  labelFindings(): LabelFindings
  /** Releases resources; called after errors too. */
  close?(): Promise<void>
}

/** An export whose ledger is written. `chain` is the id of its chain. */
export type WrittenExport = { output: string; opened: Dataset; chain: string; contracts: Contracts }

/** The user's prices for the exports of a conversion, in one currency. */
export type ConversionPrices = Pick<Prices, 'currency'> & {
  /** Returns the prices of the assets of a chain. */
  ofChain(chain: string): Prices
}

/** What all writers of a conversion share. */
export type Conversion = {
  options: ConvertOptions
  sources: readonly WrittenExport[]
  /** Opening balances, which precede the rows of the ledger. */
  opening: readonly Movement[]
  /** The user's prices, if given. */
  prices: ConversionPrices | undefined
  onOmitted: (omitted: Omitted) => void
  onUnpriced: (asset: Asset) => void
}
