import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { optionError } from '../core/model/option-error.ts'
import { trackCreatedFolders } from '../core/platform/created-folders.ts'
import { csvLine } from '../core/platform/csv-line.ts'
import { assertNotSpecial } from '../core/platform/special-entries.ts'
import { type AdjustmentFindings, sumAdjustments } from '../ledger/balances/adjustments.ts'
import { type OpeningFindings, sumFindings } from '../ledger/balances/read-opening.ts'
import {
  BRIDGE_COLUMNS,
  type BridgePair,
  bridgeCells,
  bridgeReplacer,
  findBridges,
  labelledTransactions,
} from './bridges.ts'
import {
  type ConversionTarget,
  extensionOf,
  openConversionTarget,
  openOmissions,
  removeStaleList,
  requireWorkbookPreset,
} from './conversion-target.ts'
import { noAttachedFees } from './csv/attach-fees.ts'
import { openCsvWriter } from './csv/csv-writer.ts'
import type { Preset } from './csv/preset.ts'
import { FORMAT_NAMES, JOURNALS, MULTI_FILE_WRITERS, PRESETS, roundsAmounts } from './formats.ts'
import { openJournalWriter } from './journals/journal-writer.ts'
import type { LabelFindings } from './labels.ts'
import { type Movement, toOmitted } from './movement.ts'
import { tickerName } from './names/names.ts'
import {
  type ConvertOptions,
  type Period,
  parsePeriod,
  readTimeRange,
  resolveOutputFile,
  siblingPath,
  type TimeRange,
} from './options.ts'
import { matchOwnTransfers } from './paid-swaps.ts'
import {
  type ConversionSource,
  type Outputs,
  readConversionPrices,
  selectorOf,
  withSources,
} from './sources.ts'
import { openTextFiles, type TextFiles } from './text-files.ts'
import type { Conversion, TextWriter, UsedPlaceholders } from './text-writer.ts'
import { readOpeningMovements, streamTransactions, type Transactions } from './transactions.ts'

/** The result of a conversion. */
export type ConversionResult = {
  /** Number of ledger rows in the period and opening balances, including omitted ones. */
  movements: number
  /** Number of CSV rows or journal entries written. */
  lines: number
  /** Number of further rows that were merged into these, because the program would take them for duplicates. */
  merged: number
  /** Number of movements that were added by splitting payments through a contract into own transfers. */
  split: number
  /** The pairs of transfers between chains that were matched; empty unless `matchBridges` is set. */
  bridges: readonly BridgePair[]
  /** Paths of the written files, in the chain order of their first movements; including `omittedFile`. */
  files: string[]
  /**
   * Files of wallets in the folder `out` that an earlier conversion wrote and this one did not. They are kept, and do not belong
   * to this conversion.
   */
  staleFiles: string[]
  /** Number of movements per reason that were omitted, or whose amount was rounded because the format has fewer decimals. */
  omitted: Record<string, number>
  /** Times of the first and last movement of the export. Set only if the period contains none of its movements. */
  ledgerTimeRange: TimeRange | undefined
  /** The list of omitted movements; undefined if there are none, or if the text went to `write`. */
  omittedFile: string | undefined
  opening: OpeningFindings
  adjustments: AdjustmentFindings
  /** Number of amounts per asset without a price in the user's price list. */
  unpriced: Record<string, number>
  /** The numbered names, such as `NULL1`, that the file has for tokens without a ticker; undefined if it has none. */
  placeholders: UsedPlaceholders | undefined
  /** Labels that matched nothing, and labels that matched rows which cannot have their type. */
  labels: LabelFindings
}

/**
 * Converts the ledgers of one or several exports, usually one per chain, to the import format of an accounting program.
 * Amounts are exact; movements that the format cannot represent are omitted, counted and listed. Memory does not grow with
 * the number of rows.
 *
 * @param outputs - the folder of the export, or the folders of several
 * @throws ExportError with the code USAGE if options do not fit the format or several exports, an export has no ledger
 * table, a wallet is in two exports of one chain, or a file of labels or prices is invalid; OUTPUT_FAILED if files cannot be
 * written
 * @example
 * ```ts
 * const { lines, omitted } = await convert('output/mine', { to: 'koinly', out: 'koinly.csv', from: '2024-01-01' })
 * ```
 */
export async function convert(outputs: Outputs, options: ConvertOptions): Promise<ConversionResult> {
  const folders = typeof outputs === 'string' ? ([outputs] as const) : outputs
  // Before the files of the options are read: one of them named as `out` by mistake should not be called malformed.
  if (options.out !== undefined) await resolveOutputFile(options.out, folders, options)
  return withSources(folders, options, async (sources) => {
    const resolvePath = async (path: string) => {
      // The user may pass a link as `out` on purpose. Other file names are predictable, so another user of the machine
      // could have planted a link there.
      if (path !== options.out) await assertNotSpecial(path)
      return resolveOutputFile(path, folders, options)
    }
    const files = openTextFiles(resolvePath)
    const emptyFolders = await trackCreatedFolders(options.out ?? folders[0])
    try {
      return await convertSources(sources, options, files)
    } catch (error) {
      await files.abort()
      throw error
    } finally {
      await emptyFolders.removeEmpty()
    }
  })
}

async function convertSources(
  sources: readonly ConversionSource[],
  options: ConvertOptions,
  files: TextFiles,
): Promise<ConversionResult> {
  const period = parsePeriod(options.from, options.until)
  const prices = await readConversionPrices(sources, options.prices)
  // What a format rounds depends on the movements before the period.
  const read = roundsAmounts(options.to) ? { ...period, from: '' } : period
  const opened = await Promise.all(
    sources.map(async (source) => {
      const { movements, findings } = await readOpeningMovements(options.opening, source, read)
      return { ...source, opening: movements, findings }
    }),
  )
  const all = await findAllBridges(opened, options)
  const isWithin = ({ time }: Movement) => time >= period.from && time < period.to
  const bridges = all.filter(({ sent, received }) => isWithin(sent) || isWithin(received))
  const replaceBridges = bridgeReplacer(bridges)
  const isSelected = selectorOf(sources, options.wallets)
  const omissions = openOmissions(options.out, files)
  const unpriced = new Map<string, number>()
  const writer = await openWriter({
    options,
    sources,
    prices,
    onOmitted: omissions.add,
    opening: opened.flatMap(({ opening }) => opening),
    onUnpriced: (asset) => unpriced.set(tickerName(asset), (unpriced.get(tickerName(asset)) ?? 0) + 1),
  })
  const converted = { movements: 0, lines: 0, merged: 0, split: 0 }
  try {
    const target = await openConversionTarget(options, files)
    const onSpam = (movement: Movement, reason: string) => {
      if (isBefore(period, movement) || !isSelected(movement)) return
      converted.movements += 1
      omissions.add(toOmitted(movement, reason))
    }
    const transactions = skipEarlier(streamTransactions(opened, read, onSpam), period, writer)
    const describe = (movements: readonly Movement[]) => matchOwnTransfers(replaceBridges(movements))
    await writeTransactions(transactions, { writer, describe, isSelected, target }, converted)
  } finally {
    await writer.close?.()
  }
  const bridgesFile = options.out === undefined ? undefined : siblingPath(options.out, 'bridges.csv')
  const bridgesHeader = csvLine(BRIDGE_COLUMNS)
  if (bridgesFile !== undefined)
    for (const pair of bridges) files.add(bridgesFile, csvLine(bridgeCells(pair)), bridgesHeader)
  const written = await files.finish()
  await omissions.removeStaleList()
  if (bridgesFile !== undefined && bridges.length === 0) await removeStaleList(bridgesFile, bridgesHeader)
  return {
    ...converted,
    bridges,
    files: written,
    ...omissions.summary(),
    opening: sumFindings(opened.map(({ findings }) => findings)),
    adjustments: sumAdjustments(sources.map(({ adjustments }) => adjustments)),
    staleFiles: await findStaleFiles(options, extensionOf(options), written),
    unpriced: Object.fromEntries(unpriced),
    labels: writer.labelFindings(),
    placeholders: writer.placeholders?.(),
    ledgerTimeRange: converted.movements === 0 ? await timeRangeOf(sources) : undefined,
  }
}

/** Finds the pairs of transfers between the chains of the exports. They may begin before the period or end after it. */
async function findAllBridges(
  opened: Parameters<typeof streamTransactions>[0],
  { matchBridges = false, labels, to }: ConvertOptions,
): Promise<BridgePair[]> {
  if (!matchBridges) return []
  if (new Set(opened.map(({ chain }) => chain)).size < 2)
    throw new ExportError('USAGE', 'bridges are matched between exports of several chains', {
      fix: 'Name an output of each chain, or omit --match-bridges.',
    })
  if (to === 'rp2')
    throw new ExportError('USAGE', 'rp2 has one line for both sides of a transfer, in one asset', {
      fix: 'Omit --match-bridges: rp2 then has a line for what left one chain, and one for what arrived.',
    })
  const everything = { from: '', to: '9999' }
  return findBridges(
    streamTransactions(opened, everything, () => {}),
    await labelledTransactions(labels),
  )
}

type DescribedWriter = {
  writer: TextWriter
  /** Marks own transfers that the ledger does not know. Not for formats without types. */
  describe(movements: readonly Movement[]): readonly Movement[]
  /** Whether a movement is converted. Others only help to describe those of its transaction. */
  isSelected(movement: Movement): boolean
  target: ConversionTarget
}

/** Writes all transactions, and increases the counts. */
async function writeTransactions(
  transactions: Transactions,
  { writer, describe, isSelected, target }: DescribedWriter,
  converted: Pick<ConversionResult, 'movements' | 'lines' | 'merged' | 'split'>,
): Promise<void> {
  for await (const movements of writer.isPerSecond ? bySecond(transactions) : transactions) {
    const written = (writer.isUntyped ? movements : describe(movements)).filter(isSelected)
    const count = movements.filter(isSelected).length
    if (written.length === 0) continue
    converted.split += written.length - count
    for (const { file, text, lines, merged = 0 } of await writer.write(written)) {
      converted.lines += lines
      converted.merged += merged
      target.add(file, text, lines)
    }
    converted.movements += count
    await target.flush()
  }
  for (const file of writer.files) target.add(file, '', 0)
  await target.end()
}

/** Opens the writer of a format. Throws USAGE if there is no such format, or if the options do not fit it. */
async function openWriter(conversion: Conversion): Promise<TextWriter> {
  const { to, swaps = 'off', format } = conversion.options
  const program = [...PRESETS, ...MULTI_FILE_WRITERS].find(({ name }) => name === to)
  const journal = JOURNALS.find(({ name }) => name === to)
  const files: readonly Preset[] =
    program === undefined || 'files' in program ? (program?.files ?? []) : [program]
  if (swaps !== 'off' && journal === undefined && !files.some(({ supportsSwaps }) => supportsSwaps))
    throw new ExportError('USAGE', `${to} has no lines of two assets, so swaps cannot be paired`, {
      fix: 'Omit --swaps, or use --swaps off.',
    })
  if (format === 'xlsx') requireWorkbookPreset(conversion.options)
  if (program !== undefined) return openCsvWriter(program, conversion)
  if (journal !== undefined && conversion.options.fees === 'attach') throw noAttachedFees(to)
  if (journal !== undefined) return openJournalWriter(journal, conversion)
  throw optionError('to', { found: to, expected: FORMAT_NAMES.join(', ') })
}

/** The time range of all ledgers; undefined if none has rows. */
async function timeRangeOf(sources: readonly ConversionSource[]): Promise<TimeRange | undefined> {
  const ranges: TimeRange[] = []
  for (const { opened } of sources) {
    const range = await readTimeRange(opened)
    if (range !== undefined) ranges.push(range)
  }
  const [first] = ranges.map((range) => range.first).sort()
  const last = ranges
    .map((range) => range.last)
    .sort()
    .at(-1)
  return first === undefined || last === undefined ? undefined : { first, last }
}

/** Passes transactions before the period to `skip`. */
async function* skipEarlier(
  transactions: Transactions,
  period: Period,
  { skip, isUntyped }: TextWriter,
): Transactions {
  for await (const movements of transactions) {
    const [first] = movements
    if (first === undefined || !isBefore(period, first)) yield movements
    else skip?.(isUntyped ? movements : matchOwnTransfers(movements))
  }
}

/** Whether a movement is before a period. Opening balances belong to the first row, which is a second after them. */
function isBefore({ from }: Period, { time, type }: Movement): boolean {
  if (type !== 'opening') return time < from
  return new Date(Date.parse(time) + 1_000).toISOString() < from
}

/** Joins consecutive transactions of the same second. */
async function* bySecond(transactions: Transactions): Transactions {
  let movements: Movement[] = []
  const secondOf = (time = '') => time.slice(0, 19)
  for await (const transaction of transactions) {
    if (movements.length > 0 && secondOf(movements[0]?.time) !== secondOf(transaction[0]?.time)) {
      yield movements
      movements = []
    }
    movements = movements.concat(transaction)
  }
  if (movements.length > 0) yield movements
}

/** The end of a wallet's file: its address and the extension. */
const OF_WALLET = /0x[0-9a-f]{40}(\.[a-z]+)$/

/**
 * Finds files of wallets in the folder of a conversion that it did not write: those of an earlier conversion, whose wallets
 * have no movements now, or another label. Nothing if the conversion does not write a file for each wallet.
 *
 * @param extension - that of the files of the conversion, with the dot
 */
async function findStaleFiles(
  { to, out, perWallet = false }: Pick<ConvertOptions, 'to' | 'out' | 'perWallet'>,
  extension: string,
  written: readonly string[],
): Promise<string[]> {
  const isPerWallet =
    perWallet || MULTI_FILE_WRITERS.some((program) => program.name === to && program.isPerWallet)
  if (out === undefined || !isPerWallet) return []
  const isWritten = new Set(written)
  const names = await readdir(out).catch(() => [])
  return names
    .filter((name) => OF_WALLET.exec(name)?.[1] === extension)
    .map((name) => join(out, name))
    .filter((path) => !isWritten.has(path))
    .sort()
}
