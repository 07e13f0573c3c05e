import { chainIdOf } from '../../core/model/chains.ts'
import { lastBlockOf, type NamedWallet, type NegativeBalance } from '../../ledger/balances/balances.ts'
import type { ChainWallets, OpeningFindings } from '../../ledger/balances/read-opening.ts'
import { requireChainOfEachPrice } from '../../ledger/prices/prices.ts'
import { openDataset, requireManifest } from '../../read/dataset.ts'
import { requireNewWallets } from '../distinct-wallets.ts'
import { type OwnWallets, ownWalletsOf } from '../own-transfers.ts'
import type { Period, TimeRange } from '../period.ts'
import { comparePrices, type PriceNeeded, priceKey } from '../prices-needed.ts'
import { closePeriod, instantsOf, type StatementLine } from './statement-lines.ts'
import { type PeriodOptions, parseStatementPeriod } from './statement-period.ts'
import { type Newest, openLedgerSums, readSelectedRows, type SumOptions } from './sum-ledger.ts'

/** Options of `statement`: `year`, or `from` and `until`. */
export type StatementOptions = PeriodOptions & SumOptions

/** An export of a statement, and findings about it. */
export type StatementExport = {
  output: string
  chain: string
  newest: Newest
  /** The last block up to which every selected wallet was read. */
  lastBlock: number
  wallets: NamedWallet[]
  /** Balances that were negative up to the end of the period. */
  belowZero: NegativeBalance[]
  opening: OpeningFindings
  /** Times of the first and last movement of the selected wallets. Set only if the period contains none of them. */
  ledgerTimeRange: TimeRange | undefined
}

/** The statement of one or several exports for a period. */
export type Statement = {
  /** First and last included instant, in the format of the tables. */
  period: { from: string; until: string }
  exports: StatementExport[]
  /** By export, wallet and asset, as balances are sorted. Without assets that had no balance and no movement. */
  lines: StatementLine[]
  /** The currency of the values; undefined if there are no prices. */
  currency: string | undefined
  /** Prices that are missing, sorted by day, chain and asset. */
  pricesNeeded: PriceNeeded[]
}

/**
 * States, for each wallet and asset, the balances before and after a period and what moved in between, with exact
 * integers. Memory grows with the number of wallets and assets, not with the number of rows.
 *
 * @param outputs - the folders of the exports, usually one per chain
 * @throws ExportError with the code USAGE if the period is invalid, a wallet is in two exports of one chain, the
 * exports are of several chains and a price has no chain, and as `balances` does
 * @example
 * ```ts
 * const { lines } = await statement(['output/mine'], { year: '2024' })
 * ```
 */
export async function statement(
  outputs: readonly [string, ...string[]],
  options: StatementOptions,
): Promise<Statement> {
  const period = parseStatementPeriod(options)
  const all = outputs.length > 1 ? await readWallets(outputs) : []
  if (options.prices !== undefined && all.length > 1)
    await requireChainOfEachPrice(
      options.prices,
      all.map(({ chain }) => chain),
    )
  const parts: Part[] = []
  for (const [at, output] of outputs.entries()) {
    const ownWallets = all[at] && ownWalletsOf(all[at].chain, all)
    const part = await stateExport(output, { period, options, ownWallets, exports: all[at] && all })
    const exports = parts.map(({ about }) => about)
    requireNewWallets(part.about, exports, 'leave out one of the exports, or use --wallet')
    parts.push(part)
  }
  return {
    period: { from: period.from, until: instantsOf(period).until },
    exports: parts.map(({ about }) => about),
    lines: parts.flatMap(({ lines }) => lines),
    currency: parts[0]?.currency,
    pricesNeeded: mergePrices(parts.flatMap(({ pricesNeeded }) => pricesNeeded)),
  }
}

/** The chain and the wallets of each export. */
async function readWallets(outputs: readonly string[]) {
  const manifests = await Promise.all(outputs.map(requireManifest))
  return manifests.map(({ job, coverage }) => ({ chain: chainIdOf(job.chain), coverage }))
}

function mergePrices(all: readonly PriceNeeded[]): PriceNeeded[] {
  const merged = new Map(all.map((one) => [priceKey(one), one]))
  return [...merged.values()].sort(comparePrices)
}

type StatementContext = {
  period: Period
  options: StatementOptions
  ownWallets: OwnWallets | undefined
  /** All exports of the statement; undefined if there is only one. */
  exports: readonly ChainWallets[] | undefined
}

/** The part of a statement about one export. */
type Part = Pick<Statement, 'lines' | 'currency' | 'pricesNeeded'> & { about: StatementExport }

async function stateExport(output: string, context: StatementContext): Promise<Part> {
  const { period } = context
  const opened = await openDataset(output)
  try {
    const { manifest } = opened
    const sums = await openLedgerSums(opened, { output, ...context })
    const { labels, selected, valuation, opening } = sums
    let range: TimeRange | undefined
    let isEmpty = true
    for await (const rows of readSelectedRows(opened, selected))
      for (const row of rows) {
        const { block_timestamp: time } = row
        range = { first: range?.first ?? time, last: time }
        if (time >= period.from && time < period.to) isEmpty = false
        if (time < period.to) sums.add(row)
      }
    const { lines, chain, belowZero } = closePeriod(sums, { manifest, period })
    const wallets = [...selected].sort().map((address) => ({ address, label: labels.get(address) ?? null }))
    const lastBlock = lastBlockOf(manifest, selected)
    const { newest } = sums
    const ledgerTimeRange = isEmpty ? range : undefined
    const about = { output, chain, newest, belowZero, wallets, lastBlock, opening, ledgerTimeRange }
    return { about, lines, currency: valuation.currency, pricesNeeded: valuation.needed() }
  } finally {
    await opened.close()
  }
}
