import { type ConversionSource, readConversionPrices, withSources } from '../accounting/sources.ts'
import type { ConversionPrices } from '../accounting/text-writer.ts'
import {
  type OwnWallets,
  ownWalletsOf,
  readOpeningMovements,
  streamTransactions,
} from '../accounting/transactions.ts'
import { evmIdOf } from '../core/model/chains.ts'
import type { ChainWallets, OpeningOption } from '../ledger/balances/read-opening.ts'
import { readReconciliation } from '../read/read-reconciliation.ts'
import type { ActivityPacker } from './activity-data.ts'
import { type Counterparty, readCounterparties } from './counterparties.ts'
import { HoldingList, type Holdings } from './holdings.ts'
import { readSentTransactions, type SentTransactions } from './sent-transactions.ts'
import { TransactionSums } from './transaction-sums.ts'
import { type Worth, worthOf } from './worth.ts'
import { type AssetYear, addYears, finishYears, type YearSums } from './year-sums.ts'

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
 * Reads all exports with a ledger: two passes over each ledger, and queries in the scratch database, which spills to disk,
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
    const sums = await sumTransactions(sources, {
      ...options,
      prices,
      isFailed: (hash) => sent.failed.has(hash),
    })
    const { closing, years } = await readYears(sources, sums, options)
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
  options: SumContext,
): Promise<TransactionSums> {
  const period = { from: '', to: '9999' }
  const withOpening = []
  for (const source of sources) {
    const { movements } = await readOpeningMovements(options.opening, source, period)
    withOpening.push({ ...source, opening: movements })
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

const exportsOf = (sources: readonly ConversionSource[]): ChainWallets[] =>
  sources.map(({ chain, opened }) => ({ chain, coverage: opened.manifest.coverage }))

async function readYears(
  sources: readonly ConversionSource[],
  { first, last }: TransactionSums,
  options: PortfolioOptions,
) {
  const exports = exportsOf(sources)
  const years = new Map<string, Map<string, AssetYear>>()
  const closing = new HoldingList()
  const { opening, adjustments, names, prices } = options
  for (const { output, chain, opened } of sources) {
    const ownWallets: OwnWallets | undefined = ownWalletsOf(chain, exports)
    const yearOf = (time: string) => Number(time.slice(0, 4))
    const range = first === '' ? undefined : { first: yearOf(first), last: yearOf(last) }
    const shared = { opening, adjustments, names, prices, exports }
    closing.add(
      chain,
      opened.manifest,
      await addYears(years, output, { ...shared, chain, ownWallets, range }),
    )
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
