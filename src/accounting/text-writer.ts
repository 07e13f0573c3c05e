import type { Prices } from '../ledger/prices/prices.ts'
import type { OpenedExport } from '../read/open-export.ts'
import { createLineWriter, type LineWriter, type Omitted } from './csv/import-row-writer.ts'
import type { Preset } from './csv/preset.ts'
import type { LabelFindings } from './labels.ts'
import type { Asset, Movement } from './movement.ts'
import type { Contracts } from './names/contracts.ts'
import type { PlaceholderOf } from './names/placeholders.ts'
import { walletNames } from './names/wallet-names.ts'
import type { ConvertOptions } from './options.ts'
import type { Period } from './period.ts'
import type { Refuses } from './precision-limits.ts'

/** Text of a transaction, and the file that it belongs to. */
export type Piece = {
  /** A movement of the wallet that the text is about. */
  wallet: Movement
  text: string
  /** Lines, or entries of a journal. */
  lines: number
  /** Which of a program's files, and what that one begins with; undefined where there is one alone. */
  part?: Part
}

export type Part = { file: string; head: string }

/** Makes the text of a format out of transactions. */
export type TextWriter = {
  /** What a file begins with. */
  head: string
  /** Files that a program takes even where nothing stands in them; undefined where it takes one file. */
  parts: readonly Part[] | undefined
  write(movements: readonly Movement[]): Piece[] | Promise<Piece[]>
  /** What became of the user's labels until now. */
  labelFindings(): LabelFindings
  /** Ends, whatever became of it. */
  close(): Promise<void>
}

/** What a writer is opened with. */
export type Opening = {
  output: string
  options: ConvertOptions
  opened: OpenedExport
  period: Period
  contracts: Contracts
  /** The user's, if there are any. */
  prices: Prices | undefined
  onOmitted: (omitted: Omitted) => void
  onUnpriced: (asset: Asset) => void
}

/** The movements of each wallet in turn. */
export function byWallet(movements: readonly Movement[]): [Movement, ...Movement[]][] {
  const parts: [Movement, ...Movement[]][] = []
  for (const movement of movements) {
    const last = parts.at(-1)
    if (last?.[0].wallet === movement.wallet) last.push(movement)
    else parts.push([movement])
  }
  return parts
}

/** What the writer of a file's lines asks about assets. */
type AboutAssets = {
  /** Names assets where the program numbers those that it does not know. */
  placeholderOf?: PlaceholderOf
  refuses: Refuses
}

/** The writer of a file's lines. */
export function lineWriterFor(
  preset: Preset,
  { options, opened, prices, onOmitted, onUnpriced }: Opening,
  { placeholderOf = () => '', refuses }: AboutAssets,
): LineWriter {
  const { coverage, job } = opened.manifest
  return createLineWriter({
    ...{ preset, prices, placeholderOf, refuses, onOmitted, onUnpriced, chainName: options.chainName },
    ...{ walletNames: walletNames(coverage), coin: job.nativeSymbol ?? undefined },
  })
}
