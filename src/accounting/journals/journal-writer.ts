import { compareTexts } from '../../ledger/balances/compare-sums.ts'
import { readFungibleAssets } from '../../ledger/prices/fungible-assets.ts'
import { type AcceptsSwap, acceptsSwapIn, importRowsOf, withLabels } from '../import-rows.ts'
import { readLabels } from '../labels.ts'
import type { Movement } from '../movement.ts'
import { withContract } from '../names/contracts.ts'
import { digitsToDistinguish } from '../names/first-digits.ts'
import { walletFileName } from '../names/wallet-file-name.ts'
import { findPrecisionRefusals } from '../precision-limits.ts'
import { groupByWallet, type TextWriter, type WriterContext } from '../text-writer.ts'
import { createJournalWriter } from './journal.ts'
import type { DayPrice, JournalFormat } from './journal-format.ts'

/**
 * Opens the writer of a journal, or of one journal per wallet. Each journal declares the accounts and commodities that
 * it uses.
 */
export async function openJournalWriter(format: JournalFormat, context: WriterContext): Promise<TextWriter> {
  const { options, sources, onOmitted } = context
  const wallets = sources.flatMap(({ opened }) => opened.manifest.coverage)
  const walletDigits = digitsToDistinguish(wallets.map(({ address }) => address))
  // The types of labels are accounts here.
  const labels = await readLabels(options.labels, format.accountRule)
  const refusalReasonOf = await findPrecisionRefusals(format, context)
  const writers = new Map<string, ReturnType<typeof createJournalWriter>>()
  const writerOf = (file: string) => {
    const writer =
      writers.get(file) ?? createJournalWriter({ format, walletDigits, refusalReasonOf, onOmitted })
    writers.set(file, writer)
    return writer
  }
  const rowsOf = (group: readonly Movement[], canWriteSwap: AcceptsSwap) => {
    // A label names the other side of each movement, which a swap does not have.
    const acceptsSwap: AcceptsSwap = (row) => labels.labelOf(row) === undefined && canWriteSwap(row)
    const rows = groupByWallet(group).flatMap((movements) =>
      importRowsOf(movements, acceptsSwapIn(options.swaps ?? 'pair', acceptsSwap)),
    )
    return withLabels(rows, labels.labelOf)
  }
  return {
    header: await pricesHeader(format, context),
    outputFiles: undefined,
    write: (movements) => {
      const groups = options.perWallet ? groupByWallet(movements) : [movements as [Movement, ...Movement[]]]
      return groups.map((group) => {
        const writer = writerOf(options.perWallet ? walletFileName(group[0]) : '')
        const text = writer.write(rowsOf(group, writer.canWriteSwap))
        return { wallet: group[0], text, lines: text === '' ? 0 : 1 }
      })
    },
    labelFindings: labels.findings,
    close: async () => {},
  }
}

/** A price of a commodity from an instant on, and the chain of the asset. */
type DatedPrice = DayPrice & { from: number; chain: string }

/**
 * Writes the user's prices of the exported assets as price directives, sorted by commodity and day. Directives have no time of
 * day, so only the last price of each day is written.
 */
async function pricesHeader(format: JournalFormat, { prices, sources }: WriterContext): Promise<string> {
  if (prices === undefined) return ''
  const { currency } = prices
  const lastOfDays = new Map<string, DatedPrice>()
  for (const { opened, chain, contracts } of sources) {
    for (const asset of await readFungibleAssets(opened)) {
      const commodity = format.commodityOf(withContract(asset, contracts))
      for (const { from, price } of prices.ofChain(chain).all(asset)) {
        const day = new Date(from).toISOString().slice(0, 10)
        const key = `${commodity} ${day}`
        const known = lastOfDays.get(key)
        // Prices of one instant are of several chains. They should be equal; the order of the exports must not matter.
        if (known === undefined || from > known.from || (from === known.from && chain > known.chain))
          lastOfDays.set(key, { day, commodity, price, currency, from, chain })
      }
    }
  }
  const lines = [...lastOfDays].sort(([a], [b]) => compareTexts(a, b)).map(([, price]) => format.price(price))
  return lines.length === 0 ? '' : `${lines.join('')}\n`
}
