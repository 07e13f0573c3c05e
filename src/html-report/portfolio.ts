import { type ConversionSource, readConversionPrices, withSources } from '../accounting/sources.ts'
import type { ConversionPrices } from '../accounting/text-writer.ts'
import { readFirstRow, readOpeningMovements, streamTransactions } from '../accounting/transactions.ts'
import { evmIdOf } from '../core/model/chains.ts'
import { balances } from '../ledger/balances/balances.ts'
import type { OpeningOption } from '../ledger/balances/read-opening.ts'
import { readReconciliation } from '../read/read-reconciliation.ts'
import type { ActivityPacker } from './activity-data.ts'
import { type Counterparty, readCounterparties } from './counterparties.ts'
import { HoldingList, type Holdings } from './holdings.ts'
import { readSentTransactions, type SentTransactions } from './sent-transactions.ts'
import { TransactionSums } from './transaction-sums.ts'
import { type Worth, worthOf } from './worth.ts'
import { type AssetYear, type ExportYears, finishYears, openExportYears, type YearSums } from './year-sums.ts'

/** What the wallets of all exports with a ledger hold and did. */
export type Portfolio = {
  holdings: Holdings
  /** The statements of all years, newest first. */
  years: readonly YearSums[]
  /** Sums over transactions: first and last time, fees, NFTs, balances by day. */
  sums: TransactionSums
  activity: ActivityPacker
  /** The counterparties with the most transfers, and the number of all. */
  counterparties: { top: readonly Counterparty[]; count: number }
  sent: SentTransactions
  prices: ConversionPrices | undefined
  /** undefined without prices. */
  worth: Worth | undefined
  /** The name of an address: the label of a wallet, the name in the user's file, or that in the service; '' if none. */
  nameOf: (chain: string, address: string) => string
}

export type PortfolioOptions = {
  opening?: OpeningOption
  adjustments?: string | undefined
  names?: string | undefined
  prices?: string | undefined
  maxRows: number
}

/**
 * Reads all exports with a ledger: one pass over each ledger, and queries in the scratch database, which spills to disk,
 * for what memory may not hold.
 *
 * @throws `USAGE` if a wallet is in two exports of one chain, and everything that `balances` throws
 */
export async function collectPortfolio(
  outputs: readonly [string, ...string[]],
  options: PortfolioOptions,
): Promise<Portfolio> {
  return withSources(outputs, { names: options.names, adjustments: options.adjustments }, async (sources) => {
    const prices = await readConversionPrices(sources, options.prices)
    const sent = await readSentTransactions(sources)
    const exportYears = await openYears(sources, options)
    const sums = await sumTransactions(sources, exportYears, {
      ...options,
      prices,
      isFailed: (hash) => sent.failed.has(hash),
    })
    const { closing, years } = await finishExports(sources, exportYears, sums.last, options)
    const holdings = closing.finish(prices, sums.daily)
    const counterparties = await readParties(sources)
    return {
      holdings,
      years: finishYears(years),
      sums,
      activity: sums.packer,
      counterparties,
      sent,
      prices,
      worth: prices && worthOf(sums.daily.chartDays(), holdings.priced),
      nameOf: (chain, address) =>
        sources.find((source) => source.chain === chain)?.names.get(address) ??
        counterparties.names.get(chain)?.get(address) ??
        '',
    }
  })
}

type SumContext = Omit<PortfolioOptions, 'prices'> & {
  prices: ConversionPrices | undefined
  isFailed: (transaction: string) => boolean
}

async function sumTransactions(
  sources: readonly ConversionSource[],
  exportYears: readonly ExportYears[],
  options: SumContext,
): Promise<TransactionSums> {
  const period = { from: '', to: '9999' }
  const withOpening = []
  for (const [at, source] of sources.entries()) {
    const { movements } = await readOpeningMovements(options.opening, source, period)
    withOpening.push({ ...source, opening: movements, onRow: exportYears[at]?.add })
  }
  const rowsOf = ({ opened, adjustments }: ConversionSource) =>
    (opened.manifest.tables.ledger?.rows ?? 0) + adjustments.rows
  const rows = sources.reduce((sum, source) => sum + rowsOf(source), 0)
  const sums = new TransactionSums(options, rows)
  const chains = sources.map(({ chain }) => chain)
  // If the EVM id of a job's chain is unknown, its rows can state it, so that they name another chain than the job.
  const unknown = chains.find((chain) => evmIdOf(chain) === undefined)
  for await (const movements of streamTransactions(withOpening, period, () => {})) {
    if (unknown !== undefined)
      for (const movement of movements) if (!chains.includes(movement.chain)) movement.chain = unknown
    sums.add(movements)
  }
  return sums
}

/** Opens the years of each export from the first year of all; nothing if there are only opening balances. */
async function openYears(
  sources: readonly ConversionSource[],
  options: PortfolioOptions,
): Promise<ExportYears[]> {
  let start: string | undefined
  for (const { opened } of sources) {
    const time = (await readFirstRow(opened))?.block_timestamp
    if (time !== undefined && (start === undefined || time < start)) start = time
  }
  const years: ExportYears[] = []
  if (start === undefined) return years
  const first = yearOf(start)
  for (const source of sources) years.push(await openExportYears(source, { ...options, first }))
  return years
}

const yearOf = (time: string) => Number(time.slice(0, 4))

async function finishExports(
  sources: readonly ConversionSource[],
  exportYears: readonly ExportYears[],
  last: string,
  { opening, adjustments, names }: PortfolioOptions,
) {
  const years = new Map<string, Map<string, AssetYear>>()
  const closing = new HoldingList()
  for (const [at, { output, chain, opened, exports }] of sources.entries()) {
    const held =
      exportYears[at]?.finish(yearOf(last), years) ??
      (await balances(output, { opening, adjustments, exports, names, all: true }))
    closing.add(chain, opened.manifest, held)
    closing.excludeDifferent(chain, await readReconciliation(output))
  }
  return { closing, years }
}

async function readParties(sources: readonly ConversionSource[]) {
  const all: Counterparty[] = []
  const names = new Map<string, ReadonlyMap<string, string>>()
  let count = 0
  for (const { opened, chain, names: own } of sources) {
    const found = await readCounterparties(opened, chain)
    for (const party of found.top) all.push({ ...party, name: own.get(party.address) ?? party.name })
    names.set(chain, new Map([...(names.get(chain) ?? []), ...found.names]))
    count += found.count
  }
  const transfers = ({ received, sent }: Counterparty) => received + sent
  const isNamed = ({ name }: Counterparty) => Number(name !== null)
  const top = all.sort((a, b) => isNamed(b) - isNamed(a) || transfers(b) - transfers(a))
  return { top, count, names }
}
