import { trackCreatedFolders } from '../core/platform/created-folders.ts'
import { assertNotSpecial } from '../core/platform/special-entries.ts'
import { balances } from '../ledger/balances/balances.ts'
import { readFungibleAssets } from '../ledger/prices/fungible-assets.ts'
import { readPrices } from '../ledger/prices/prices.ts'
import { type AddressNames, applyNames } from '../read/address-book.ts'
import { type OpenExport, openExport, requireLedger } from '../read/open-export.ts'
import { openConversionTarget } from './conversion-target.ts'
import { type Omitted, toOmitted } from './csv/import-row-writer.ts'
import type { LabelFindings } from './labels.ts'
import type { Asset, Movement } from './movement.ts'
import { matchMultisends } from './multisends.ts'
import { tickerName } from './names/asset-name.ts'
import { readContracts } from './names/contracts.ts'
import { nameParties } from './names/party-names.ts'
import { readTickers, type TokenNames } from './names/tickers.ts'
import { openOmissions } from './omissions.ts'
import { readOpeningMovements } from './opening.ts'
import { type ConvertOptions, resolveOutputFile } from './options.ts'
import { parsePeriod, readTimeRange, type TimeRange } from './period.ts'
import { openTextFiles, type TextFiles } from './text-files.ts'
import { transactionsOf } from './transactions.ts'
import { FORMAT_NAMES, openWriter, usesIdentifiers } from './writers.ts'

/** The result of a conversion. */
export type ConversionResult = {
  /** Number of ledger rows in the period and opening balances, including omitted ones. */
  movements: number
  /** Number of CSV rows or journal entries written. */
  lines: number
  /** Number of further rows that were merged into these, because the program would take them for duplicates. */
  merged: number
  /** Paths of the written files, in the chain order of their first movements. */
  files: string[]
  /** Number of movements per reason that were omitted, or whose amount was cut off because the format has fewer decimals. */
  omitted: Record<string, number>
  /** Times of the first and last movement of the export. Set only if the period contains none of its movements. */
  ledgerTimeRange: TimeRange | undefined
  /** The list of omitted movements; undefined if there are none, or if the text went to `write`. */
  omittedFile: string | undefined
  /** Number of lines of `opening` without a value and an amount. */
  unfilledOpening: number
  /** Number of amounts per asset without a price in the user's price list. */
  unpriced: Record<string, number>
  /** Labels that matched nothing, and labels that matched rows which cannot have their type. */
  labels: LabelFindings
}

/**
 * Converts the ledger of an export to the import format of an accounting program. Amounts are exact; movements that the
 * format cannot represent are omitted, counted and listed. Memory does not grow with the number of rows.
 *
 * @param output - the folder of the export
 * @throws ExportError with the code USAGE if options do not fit the format, the export has no ledger table, or a file
 * of labels or prices is invalid; OUTPUT_FAILED if files cannot be written
 * @example
 * ```ts
 * const { lines, omitted } = await convert('output/mine', { to: 'koinly', out: 'koinly.csv', from: '2024-01-01' })
 * ```
 */
export async function convert(output: string, options: ConvertOptions): Promise<ConversionResult> {
  const opened = await openExport(output)
  const resolvePath = async (path: string) => {
    // The user may pass a link as `out` on purpose. Other file names are predictable, so another user of the machine
    // could have planted a link there.
    if (path !== options.out) await assertNotSpecial(path)
    return resolveOutputFile(path, output, options)
  }
  const files = openTextFiles(resolvePath)
  const emptyFolders = await trackCreatedFolders(options.out ?? output)
  try {
    requireLedger(opened.manifest, output, 'conversions are made from')
    if (options.out !== undefined) await resolvePath(options.out)
    const { manifest, names } = await applyNames(options.names, opened.manifest)
    return await convertExport({ output, opened: { ...opened, manifest }, names, files }, options)
  } catch (thrown) {
    await files.abort()
    throw thrown
  } finally {
    await opened.close()
    await emptyFolders.removeEmpty()
  }
}

type ConversionSource = { output: string; opened: OpenExport; names: AddressNames; files: TextFiles }

async function convertExport(
  { output, opened, names, files }: ConversionSource,
  options: ConvertOptions,
): Promise<ConversionResult> {
  const period = parsePeriod(options.from, options.until)
  const assetsOf = () => readFungibleAssets(opened)
  const prices = options.prices === undefined ? undefined : await readPrices(options.prices, assetsOf)
  const tickers = await readTickers(options, {
    ...{ job: opened.manifest.job, programs: FORMAT_NAMES, usesIdentifiers },
  })
  const contracts = await readContracts(opened, tickers)
  const opening = await readOpeningMovements(options.opening, { opened, contracts, period })
  const omissions = openOmissions(options.out, files)
  const unpriced = new Map<string, number>()
  const writer = await openWriter({
    ...{ output, options, opened, period, prices, contracts, onOmitted: omissions.add },
    opening: opening.movements,
    onUnpriced: (asset) => increment(unpriced, asset),
  })
  const converted = { movements: 0, lines: 0, merged: 0 }
  try {
    const target = await openConversionTarget(options, writer, files)
    const spam = options.excludeSpam ? await readSpam(output, tickers) : NO_SPAM
    const transactions = withOpening(opening.movements, transactionsOf(opened, { period, contracts }))
    for await (const movements of writer.isPerSecond ? bySecond(transactions) : transactions) {
      nameParties(movements, names)
      const included = movements.filter((movement) => !isSpam(movement, { spam, onOmitted: omissions.add }))
      const matched = writer.isUntyped ? included : matchMultisends(included)
      for (const chunk of matched.length === 0 ? [] : await writer.write(matched)) {
        converted.lines += chunk.lines
        converted.merged += chunk.merged ?? 0
        target.write(chunk)
      }
      converted.movements += movements.length
      await target.flush()
    }
    await target.end()
  } finally {
    await writer.close()
  }
  const written = await files.finish()
  await omissions.removeStaleList()
  const found = {
    ...{ unpriced: Object.fromEntries(unpriced), labels: writer.labelFindings() },
    unfilledOpening: opening.unfilled,
  }
  const ledgerTimeRange = converted.movements === 0 ? await readTimeRange(opened) : undefined
  return { ...converted, files: written, ledgerTimeRange, ...omissions.summary(), ...found }
}

/** Yields opening balances before the transactions. */
async function* withOpening(
  opening: Movement[],
  transactions: AsyncIterable<Movement[]>,
): AsyncGenerator<Movement[], void, void> {
  if (opening.length > 0) yield opening
  yield* transactions
}

/** Joins consecutive transactions of the same second. */
async function* bySecond(transactions: AsyncIterable<Movement[]>): AsyncGenerator<Movement[], void, void> {
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

function increment(counts: Map<string, number>, asset: Asset): void {
  const name = tickerName(asset)
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

export const NO_SPAM: ReadonlyMap<string, string> = new Map()

/** Returns the reason for omitting its movements, by the contract of each flagged token without a ticker. */
export async function readSpam(output: string, tickers: TokenNames): Promise<ReadonlyMap<string, string>> {
  const { flagged } = await balances(output)
  return new Map(
    flagged
      .filter(({ asset_address }) => !tickers.has(asset_address))
      .map(({ asset_address, flags }) => [
        asset_address,
        `spam: ${flags.map(({ rule }) => rule).join(', ')}`,
      ]),
  )
}

type SpamFilter = { spam: ReadonlyMap<string, string>; onOmitted: (omitted: Omitted) => void }

function isSpam(movement: Movement, { spam, onOmitted }: SpamFilter): boolean {
  const reason = spam.get(movement.asset.address ?? '')
  if (reason !== undefined) onOmitted(toOmitted(movement, reason))
  return reason !== undefined
}
