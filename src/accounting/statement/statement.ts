import { isNft } from '../../core/model/asset.ts'
import { ExportError } from '../../core/model/errors.ts'
import { BalanceSums } from '../../ledger/balances/balance-sums.ts'
import {
  type Balance,
  labelsOf,
  lastBlockOf,
  type NamedWallet,
  type NegativeBalance,
  toBalances,
} from '../../ledger/balances/balances.ts'
import { readOpening } from '../../ledger/balances/read-opening.ts'
import { selectWallets } from '../../ledger/balances/select-wallets.ts'
import { requireOneChain } from '../../ledger/prices/require-one-chain.ts'
import { applyNames } from '../../read/address-book.ts'
import { openExport, requireLedger } from '../../read/open-export.ts'
import type { Asset } from '../movement.ts'
import type { Period } from '../period.ts'
import { comparePrices, type PriceNeeded } from '../prices-needed.ts'
import { type AmountName, FLOWS, isInflow } from './flows.ts'
import { type PeriodOptions, parseStatementPeriod } from './statement-period.ts'
import { type AssetSums, type EntryTotal, StatementSums, type ValueOf } from './statement-sums.ts'
import { type Newest, sumLedger } from './sum-ledger.ts'
import { openValuation, type Valuation, type ValuationOptions } from './valuation.ts'

/** Options of `statement`: `year`, or `from` and `until`. */
export type StatementOptions = PeriodOptions &
  ValuationOptions & {
    /** Addresses or labels of the wallets. @default all wallets */
    wallets?: readonly string[]
    /** CSV file of opening balances, held before the first row of the export; for one export only. */
    opening?: string | undefined
    /** CSV file with the columns address and name: labels of wallets that have none in the job. */
    names?: string | undefined
  }

/** What happened to a wallet's asset in the period. */
export type StatementLine = Omit<Balance, 'value' | 'amount'> & {
  chain_id: string
  /**
   * In the asset's smallest unit; flows are not negative. `closing` = `opening` + `received` - `sent` + `swapped_in` -
   * `swapped_out` + `wrapped_in` - `wrapped_out` - `fees`.
   */
  amounts: Record<AmountName, bigint>
  /** Values of the amounts in units of 10^-8 of the currency; null if a price is missing. */
  values: Record<AmountName, bigint | null>
  /** What the movements of each entry type add up to, sorted by type. */
  entries: EntryTotal[]
}

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
  /** Number of lines of `opening` without a value and an amount. */
  unfilledOpening: number
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
  /** Prices that are missing, sorted by day and asset. */
  pricesNeeded: PriceNeeded[]
}

/**
 * States, for each wallet and asset, the balances before and after a period and what moved in between, with exact
 * integers. Memory grows with the number of wallets and assets, not with the number of rows.
 *
 * @param outputs - the folders of the exports, usually one per chain
 * @throws ExportError with the code USAGE if the period is invalid, a wallet is in two exports of one chain, there are
 * prices for several chains, and as `balances` does
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
  if (options.opening !== undefined && outputs.length > 1)
    throw new ExportError('USAGE', '--opening applies to one export', {
      fix: 'Write one statement per export, each with its opening balances.',
    })
  const instants = { before: instantBefore(period.from), until: instantBefore(period.to) }
  const parts: Part[] = []
  for (const output of outputs) {
    const part = await stateExport(output, { period, instants, options })
    const exports = parts.map(({ about }) => about)
    requireNewWallets(part.about, exports)
    const isPriced = options.prices !== undefined || options.collectsNeeded === true
    if (isPriced)
      requireOneChain(
        [...exports, part.about].map(({ chain }) => chain),
        'statement',
      )
    parts.push(part)
  }
  return {
    period: { from: period.from, until: instants.until },
    exports: parts.map(({ about }) => about),
    lines: parts.flatMap(({ lines }) => lines),
    currency: parts[0]?.currency,
    pricesNeeded: mergePrices(parts.flatMap(({ pricesNeeded }) => pricesNeeded)),
  }
}

const instantBefore = (time: string) => new Date(Date.parse(time) - 1).toISOString()

function mergePrices(all: readonly PriceNeeded[]): PriceNeeded[] {
  const merged = new Map(all.map((one) => [`${one.date} ${one.asset}`, one]))
  return [...merged.values()].sort(comparePrices)
}

/** Throws USAGE if a wallet is in another export of the same chain: its movements would be counted twice. */
function requireNewWallets({ output, chain, wallets }: StatementExport, others: readonly StatementExport[]) {
  for (const other of others.filter((one) => one.chain === chain)) {
    const addresses = new Set(other.wallets.map(({ address }) => address))
    const repeated = wallets.find(({ address }) => addresses.has(address))
    if (repeated !== undefined)
      throw new ExportError(
        'USAGE',
        `${output} and ${other.output} both contain wallet ${repeated.address} on chain ${chain}`,
        { fix: 'Name each wallet of a chain once: leave out one of the exports, or use --wallet.' },
      )
  }
}

/** The last instants before the period and of the period, in the format of the tables. */
type Instants = { before: string; until: string }

type StatementContext = { period: Period; instants: Instants; options: StatementOptions }

/** The part of a statement about one export. */
type Part = Pick<Statement, 'lines' | 'currency' | 'pricesNeeded'> & { about: StatementExport }

async function stateExport(output: string, context: StatementContext): Promise<Part> {
  const { period, options } = context
  const opened = await openExport(output)
  try {
    requireLedger(opened.manifest, output, 'statements are made from')
    const { manifest } = await applyNames(options.names, opened.manifest)
    const labels = labelsOf(manifest)
    const covered = selectWallets(manifest, undefined)
    const selected = selectWallets(manifest, options.wallets)
    const opening = await readOpening(options.opening, { opened, labels, wallets: covered })
    const valuation = await openValuation(opened, options)
    const priceFlow: ValueOf = ({ asset, value }, time) => valuation.valueAt(asset, value, time)
    const sums = { balances: new BalanceSums(), statement: new StatementSums(priceFlow) }
    for (const { wallet, asset, value } of opening.amounts) {
      if (!selected.has(wallet)) continue
      sums.balances.open(wallet, asset, value)
      sums.statement.open(wallet, asset, value)
    }
    const { contracts, currency } = valuation
    const newest = await sumLedger(opened, sums, { period, labels, covered, selected, contracts })
    // The chain of a job may have another name than its id.
    const chain = newest?.chain ?? manifest.job.chain
    const { balances, belowZero } = toBalances(sums.balances, { labels, manifest, newest, all: true })
    const lines = balances.flatMap((balance) =>
      linesOf(balance, { all: sums.statement, chain, valuation, instants: context.instants }),
    )
    const wallets = [...selected].sort().map((address) => ({ address, label: labels.get(address) ?? null }))
    const lastBlock = lastBlockOf(manifest, selected)
    const about = { output, chain, newest, belowZero, wallets, lastBlock, unfilledOpening: opening.unfilled }
    return { about, lines, currency, pricesNeeded: valuation.needed() }
  } finally {
    await opened.close()
  }
}

type LineContext = { all: StatementSums; chain: string; valuation: Valuation; instants: Instants }

/** Returns the line of a balance at the end of the period; none if there was no balance and no movement. */
function linesOf(balance: Balance, { all, chain, valuation, instants }: LineContext): StatementLine[] {
  const { value: closing, amount: _, ...columns } = balance
  const { asset_type, asset_address: address, token_id: tokenId, asset_symbol: symbol } = columns
  const type = asset_type as Asset['type']
  const asset: Asset = { type, address, tokenId, symbol, decimals: decimalsOf(columns) }
  const sums = all.get(columns.wallet_address, asset)
  if (sums === undefined || (closing === 0n && sums.opening === 0n && sums.entries.length === 0)) return []
  const { opening, flows, entries } = sums
  requireSum(sums, balance)
  const values = {
    opening: valuation.valueAt(asset, opening, instants.before),
    ...sums.values,
    closing: valuation.valueAt(asset, closing, instants.until),
  }
  return [{ chain_id: chain, ...columns, amounts: { opening, ...flows, closing }, entries, values }]
}

/** Throws VERIFY_FAILED if the flows of an asset do not lead from its opening to its closing balance. */
function requireSum(
  { opening, flows }: AssetSums,
  { value: closing, asset_address, wallet_address }: Balance,
): void {
  const end = FLOWS.reduce((sum, name) => (isInflow(name) ? sum + flows[name] : sum - flows[name]), opening)
  if (end === closing) return
  throw new ExportError(
    'VERIFY_FAILED',
    `the rows of ${asset_address ?? 'the native coin'} of ${wallet_address} do not add up to its balance`,
    { fix: 'Check the export with walletlake verify.' },
  )
}

/** The decimals of an asset's amounts; null if unknown. ERC-1155 tokens without decimals are counted in pieces. */
export const decimalsOf = ({ asset_type, asset_decimals }: Pick<Balance, 'asset_type' | 'asset_decimals'>) =>
  asset_decimals ?? (isNft({ type: asset_type }) ? 0 : null)
