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
import { type OpenExport, openExport, requireLedger, uncoveredWalletError } from '../../read/open-export.ts'
import type { Movement } from '../movement.ts'
import type { Contracts } from '../names/contracts.ts'
import type { Period } from '../period.ts'
import { groupByWallet } from '../text-writer.ts'
import { MOVEMENT_COLUMNS, movementOf } from '../transactions.ts'
import { FLOWS, flowsOf, isInflow } from './flows.ts'
import { type PeriodOptions, parseStatementPeriod } from './statement-period.ts'
import { type AssetSums, StatementSums } from './statement-sums.ts'

/** Options of `statement`: `year`, or `from` and `until`. */
export type StatementOptions = PeriodOptions & {
  /** Addresses or labels of the wallets. @default all wallets */
  wallets?: readonly string[]
  /** CSV file of opening balances, held before the first row of the export; for one export only. */
  opening?: string | undefined
}

/** What happened to a wallet's asset in the period. Amounts are in the asset's smallest unit and not negative. */
export type StatementLine = Omit<Balance, 'value' | 'amount'> &
  AssetSums & {
    chain_id: string
    /** opening + received - sent + swapped in - swapped out + wrapped in - wrapped out - fees */
    closing: bigint
  }

/** An export of a statement, and findings about it. */
export type StatementExport = {
  output: string
  chain: string
  /** The newest row up to the end of the period; undefined if there is none. */
  newest: { block: number; time: string } | undefined
  /** The last block up to which every selected wallet was read. */
  lastBlock: number
  wallets: NamedWallet[]
  /** Balances that were negative up to the end of the period. */
  belowZero: NegativeBalance[]
  /** Number of lines of `opening` without a value and an amount. */
  unfilledOpening: number
}

export type Statement = {
  /** First and last included instant, in the format of the tables. */
  period: { from: string; until: string }
  exports: StatementExport[]
  /** By export, wallet and asset, as balances are sorted. Without assets that had no balance and no movement. */
  lines: StatementLine[]
}

/**
 * States, for each wallet and asset, the balances before and after a period and what moved in between, with exact
 * integers. Memory grows with the number of wallets and assets, not with the number of rows.
 *
 * @param outputs - the folders of the exports, usually one per chain
 * @throws ExportError with the code USAGE if the period is invalid, a wallet is in two exports of one chain, and as
 * `balances` does
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
  const all: Statement = {
    period: { from: period.from, until: new Date(Date.parse(period.to) - 1).toISOString() },
    exports: [],
    lines: [],
  }
  for (const output of outputs) {
    const { lines, ...one } = await stateExport(output, { period, options })
    requireNewWallets(one, all.exports)
    all.exports.push(one)
    for (const line of lines) all.lines.push(line)
  }
  return all
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

type StatementContext = { period: Period; options: StatementOptions }

async function stateExport(
  output: string,
  { period, options }: StatementContext,
): Promise<StatementExport & { lines: StatementLine[] }> {
  const opened = await openExport(output)
  try {
    const { manifest } = opened
    requireLedger(manifest, output, 'statements are made from')
    const labels = labelsOf(manifest)
    const covered = selectWallets(manifest, undefined)
    const selected = selectWallets(manifest, options.wallets)
    const opening = await readOpening(options.opening, { opened, labels, wallets: covered })
    const sums = { balances: new BalanceSums(), statement: new StatementSums(() => null) }
    for (const { wallet, asset, value } of opening.amounts) {
      if (!selected.has(wallet)) continue
      sums.balances.open(wallet, asset, value)
      sums.statement.open(wallet, asset, value)
    }
    const newest = await sumLedger(opened, sums, {
      period,
      labels,
      covered,
      selected,
      contracts: NO_CONTRACTS,
    })
    const { balances, belowZero } = toBalances(sums.balances, { labels, manifest, newest, all: true })
    return {
      ...{ output, chain: manifest.job.chain, newest, belowZero, unfilledOpening: opening.unfilled },
      wallets: [...selected].sort().map((address) => ({ address, label: labels.get(address) ?? null })),
      lastBlock: lastBlockOf(manifest, selected),
      lines: balances.flatMap((balance) => linesOf(balance, sums.statement, manifest.job.chain)),
    }
  } finally {
    await opened.close()
  }
}

const NO_CONTRACTS: Contracts = new Map()

type Sums = { balances: BalanceSums; statement: StatementSums }
type SumContext = {
  period: Period
  labels: Map<string, string | null>
  covered: ReadonlySet<string>
  selected: ReadonlySet<string>
  contracts: Contracts
}

/** Adds the rows up to the end of the period to the sums, and returns the position of the last one. */
async function sumLedger(opened: OpenExport, sums: Sums, context: SumContext) {
  const { period, labels, covered, selected, contracts } = context
  let newest: StatementExport['newest']
  let transaction: Movement[] = []
  for await (const rows of opened.stream('ledger', MOVEMENT_COLUMNS)) {
    for (const row of rows) {
      const { wallet_address: wallet, block_timestamp: time } = row
      if (!covered.has(wallet)) throw uncoveredWalletError(wallet)
      if (!selected.has(wallet) || time >= period.to) continue
      newest = { block: Number(row.block_number), time }
      if (!labels.has(wallet)) labels.set(wallet, row.wallet_label)
      sums.balances.add(row)
      if (time < period.from) {
        const asset = { type: row.asset_type, address: row.asset_address, tokenId: row.token_id }
        sums.statement.open(wallet, asset, BigInt(row.value))
        continue
      }
      const movement = movementOf(row, contracts)
      if (transaction[0]?.transaction !== movement.transaction) {
        addTransaction(transaction, sums.statement)
        transaction = []
      }
      transaction.push(movement)
    }
  }
  addTransaction(transaction, sums.statement)
  return newest
}

function addTransaction(transaction: readonly Movement[], sums: StatementSums): void {
  for (const movements of groupByWallet(transaction)) {
    const [{ wallet, time }] = movements
    for (const movement of movements) sums.count(movement)
    for (const flow of flowsOf(movements)) sums.add(wallet, flow, time)
  }
}

/** Returns the line of a balance at the end of the period; none if there was no balance and no movement. */
function linesOf(balance: Balance, all: StatementSums, chain_id: string): StatementLine[] {
  const { value: closing, amount: _, ...asset } = balance
  const sums = all.get(asset.wallet_address, {
    ...{ type: asset.asset_type, address: asset.asset_address, tokenId: asset.token_id },
  })
  if (sums === undefined || (closing === 0n && sums.opening === 0n && sums.entries.length === 0)) return []
  const end = FLOWS.reduce(
    (sum, name) => (isInflow(name) ? sum + sums.flows[name] : sum - sums.flows[name]),
    sums.opening,
  )
  if (end !== closing)
    throw new ExportError(
      'VERIFY_FAILED',
      `the rows of ${asset.asset_address ?? 'the native coin'} of ${asset.wallet_address} do not add up to its balance`,
      { fix: 'Check the export with walletlake verify.' },
    )
  return [{ chain_id, ...asset, ...sums, closing }]
}
