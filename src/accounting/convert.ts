import { watchEmptyFolders } from '../core/platform/created-folders.ts'
import { refuseSpecial } from '../core/platform/special-entries.ts'
import { balances } from '../ledger/balances/balances.ts'
import { fungibleAssets } from '../ledger/prices/fungible-assets.ts'
import { readPrices } from '../ledger/prices/prices.ts'
import { type OpenedExport, openExport, requireLedger } from '../read/open-export.ts'
import { openTarget } from './conversion-target.ts'
import { type Omitted, omitted } from './csv/import-row-writer.ts'
import type { LabelFindings } from './labels.ts'
import type { Asset, Movement } from './movement.ts'
import { tickerName } from './names/asset-name.ts'
import { readContracts } from './names/contracts.ts'
import { openOmissions } from './omissions.ts'
import { type ConvertOptions, placeOfFile } from './options.ts'
import { periodOf, type Span, spanOf } from './period.ts'
import { openTextFiles, type TextFiles } from './text-files.ts'
import { transactionsOf } from './transactions.ts'
import { openWriter } from './writers.ts'

/** What a conversion wrote. */
export type Converted = {
  /** Movements of the ledger that were converted, whole. */
  movements: number
  /** Lines, or transactions of a journal, that they became. */
  lines: number
  files: string[]
  /** By reason, how many movements were left out, or cut off beyond what the format holds. */
  omitted: Record<string, number>
  /** Times of the first and last movement of the export, where it has some and none of them was asked for. */
  span: Span | undefined
  /** Where they are listed; undefined where there is none, or the text went to `write`. */
  omittedFile: string | undefined
  /** By asset, how many amounts have no price among those that were given. */
  unpriced: Record<string, number>
  /** Lines of the file of labels that matched nothing, and labels that do not fit the lines that they matched. */
  labels: LabelFindings
}

/**
 * Converts the ledger of an export for an accounting program, row by row: amounts are exact, and what a format cannot hold is
 * left out, counted and listed. Memory does not grow with the rows. Throws USAGE for options that do not fit, an export
 * without ledger, or a mistake in a file of labels or prices; OUTPUT_FAILED where files cannot be written.
 */
export async function convert(output: string, options: ConvertOptions): Promise<Converted> {
  const opened = await openExport(output)
  const placeOf = async (path: string) => {
    // The user names a link deliberately; names that this program chooses may have been anticipated by another user.
    if (path !== options.out) await refuseSpecial(path)
    return placeOfFile(path, output, options)
  }
  const files = openTextFiles(placeOf)
  const before = await watchEmptyFolders(options.out ?? output)
  try {
    requireLedger(opened.manifest, output, 'conversions are made of')
    if (options.out !== undefined) await placeOf(options.out)
    return await convertOpened({ output, opened, files }, options)
  } catch (thrown) {
    await files.giveUp()
    throw thrown
  } finally {
    await opened.close()
    await before.removeEmpty()
  }
}

type Source = { output: string; opened: OpenedExport; files: TextFiles }

async function convertOpened({ output, opened, files }: Source, options: ConvertOptions): Promise<Converted> {
  const period = periodOf(options.from, options.until)
  const assetsOf = () => fungibleAssets(opened)
  const prices = options.prices === undefined ? undefined : await readPrices(options.prices, assetsOf)
  const contracts = await readContracts(opened)
  const omissions = openOmissions(options.out, files)
  const unpriced = new Map<string, number>()
  const writer = await openWriter({
    ...{ output, options, opened, period, prices, contracts, onOmitted: omissions.note },
    onUnpriced: (asset) => countUp(unpriced, asset),
  })
  const converted = { movements: 0, lines: 0 }
  try {
    const target = await openTarget(options, writer, files)
    const spam = options.excludeSpam ? await spamIn(output) : NO_SPAM
    for await (const movements of transactionsOf(opened, { period, contracts })) {
      const wanted = movements.filter((movement) => !isSpam(movement, { spam, onOmitted: omissions.note }))
      for (const piece of wanted.length === 0 ? [] : await writer.write(wanted)) {
        converted.lines += piece.lines
        target.write(piece)
      }
      converted.movements += movements.length
      await target.flush()
    }
    await target.end()
  } finally {
    await writer.close()
  }
  const written = await files.finish()
  await omissions.settle()
  const found = { unpriced: Object.fromEntries(unpriced), labels: writer.labelFindings() }
  const span = converted.movements === 0 ? await spanOf(opened) : undefined
  return { ...converted, files: written, span, ...omissions.told(), ...found }
}

function countUp(counts: Map<string, number>, asset: Asset): void {
  const name = tickerName(asset)
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

const NO_SPAM: ReadonlyMap<string, string> = new Map()

/** By contract, why its movements are left out. */
async function spamIn(output: string): Promise<ReadonlyMap<string, string>> {
  const { flagged } = await balances(output)
  return new Map(
    flagged.map(({ asset_address, flags }) => [
      asset_address,
      `spam: ${flags.map(({ rule }) => rule).join(', ')}`,
    ]),
  )
}

type Spam = { spam: ReadonlyMap<string, string>; onOmitted: (omitted: Omitted) => void }

function isSpam(movement: Movement, { spam, onOmitted }: Spam): boolean {
  const reason = spam.get(movement.asset.address ?? '')
  if (reason !== undefined) onOmitted(omitted(movement, reason))
  return reason !== undefined
}
