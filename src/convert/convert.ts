import { balances } from '../balances/balances.ts'
import { ExportError } from '../core/errors.ts'
import { openExport } from '../read/open-export.ts'
import type { Omitted } from './line-writer.ts'
import type { Movement } from './movement.ts'
import { openOmissions } from './omissions.ts'
import type { ConvertOptions } from './options.ts'
import { periodOf } from './period.ts'
import { openTarget } from './target.ts'
import { openTextFiles } from './text-files.ts'
import { transactionsOf } from './transactions.ts'
import { openWriter } from './writers.ts'

/** What a conversion wrote. */
export type Converted = {
  /** Movements of the ledger that were converted, whole. */
  movements: number
  /** Lines or journal entries that they became. */
  lines: number
  files: string[]
  /** By reason, how many movements were left out, or cut off beyond what the format holds. */
  omitted: Record<string, number>
  /** Where they are listed; undefined where there is none, or the text went to `write`. */
  omittedFile: string | undefined
}

/**
 * Converts the ledger of an export for an accounting program, row by row: amounts are exact, and what a format cannot hold is
 * left out, counted and listed. Memory does not grow with the rows. Throws USAGE for options that do not fit, an export
 * without ledger, or a mistake in a file of labels; OUTPUT_FAILED where files cannot be written.
 */
export async function convert(output: string, options: ConvertOptions): Promise<Converted> {
  const period = periodOf(options.from, options.until)
  const opened = await openExport(output)
  const files = openTextFiles()
  try {
    if (opened.manifest.tables.ledger === undefined) throw noLedger(output)
    const target = await openTarget(options, files)
    const omissions = openOmissions(options.out, files)
    const writer = await openWriter({ options, opened, period, onOmitted: omissions.note })
    const converted = { movements: 0, lines: 0 }
    const spam = options.excludeSpam ? await spamIn(output) : NO_SPAM
    for await (const movements of transactionsOf(opened, period)) {
      const wanted = movements.filter((movement) => !isSpam(movement, { spam, onOmitted: omissions.note }))
      for (const { wallet, text, lines } of writer.write(wanted)) {
        converted.lines += lines
        await target.write(text, { movement: wallet, head: writer.head })
      }
      converted.movements += movements.length
      await omissions.flush()
    }
    await target.end(writer.head)
    await writer.save()
    const written = await files.finish()
    return { ...converted, files: written, ...omissions.told() }
  } catch (thrown) {
    await files.giveUp()
    throw thrown
  } finally {
    await opened.close()
  }
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
  if (reason !== undefined)
    onOmitted({ movement, value: movement.isOut ? -movement.value : movement.value, reason })
  return reason !== undefined
}

function noLedger(output: string): ExportError {
  return new ExportError('USAGE', `${output} holds no ledger, which conversions are made of`, {
    fix: 'Export it: add ledger to the tables of the job, or leave tables out, which means all of them.',
  })
}
