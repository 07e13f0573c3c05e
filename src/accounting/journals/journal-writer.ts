import { fungibleAssets } from '../../ledger/prices/fungible-assets.ts'
import { linesOf, withLabels } from '../import-rows.ts'
import { readLabels } from '../labels.ts'
import type { Movement } from '../movement.ts'
import { ofContract } from '../names/contracts.ts'
import { digitsApart } from '../names/first-digits.ts'
import { refusalOfSums } from '../precision-limits.ts'
import { byWallet, type Opening, type TextWriter } from '../text-writer.ts'
import { createJournalWriter } from './journal.ts'
import type { JournalForm } from './journal-format.ts'

/** Opens the writer of a journal, of one for each wallet if wanted: each declares what it uses. */
export async function openJournalWriter(form: JournalForm, opening: Opening): Promise<TextWriter> {
  const { options, opened, onOmitted } = opening
  const walletDigits = digitsApart(opened.manifest.coverage.map(({ address }) => address))
  // Of a journal, labels are accounts.
  const labels = await readLabels(options.labels, form.accountRule)
  const refuses = await refusalOfSums(form, opening)
  const writers = new Map<string, ReturnType<typeof createJournalWriter>>()
  const writerOf = (file: string) => {
    const writer = writers.get(file) ?? createJournalWriter({ form, walletDigits, refuses, onOmitted })
    writers.set(file, writer)
    return writer
  }
  return {
    head: await pricesHead(form, opening),
    parts: undefined,
    write: (movements) => {
      const parts = options.perWallet ? byWallet(movements) : [movements as [Movement, ...Movement[]]]
      return parts.map((part) => {
        const lines = withLabels(linesOf(part, false), labels.labelOf)
        const text = writerOf(options.perWallet ? part[0].wallet : '').write(lines)
        return { wallet: part[0], text, lines: text === '' ? 0 : 1 }
      })
    },
    labelFindings: labels.findings,
    close: async () => {},
  }
}

/** The user's prices of what the export has: the newest of each day counts there. */
async function pricesHead(form: JournalForm, { prices, opened, contracts }: Opening): Promise<string> {
  if (prices === undefined) return ''
  const lines = new Set<string>()
  for (const asset of await fungibleAssets(opened)) {
    for (const { from, price } of prices.all(asset)) {
      const day = new Date(from).toISOString().slice(0, 10)
      lines.add(
        form.price({
          day,
          commodity: form.commodityOf(ofContract(asset, contracts)),
          price,
          currency: prices.currency,
        }),
      )
    }
  }
  return lines.size === 0 ? '' : `${[...lines].join('')}\n`
}
