import { isNft } from '../../core/model/asset.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { type Balance, type ComputedBalances, toBalances } from '../../ledger/balances/balances.ts'
import type { Asset } from '../movement.ts'
import { instantBefore, type Period } from '../period.ts'
import { type AmountName, FLOWS, isInflow } from './flows.ts'
import type { AssetSums, EntryTotal, StatementSums } from './statement-sums.ts'
import type { LedgerSums } from './sum-ledger.ts'
import type { Valuation } from './valuation.ts'

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

/** The last instants before a period and of it, in the format of the tables. */
export const instantsOf = ({ from, to }: Period) => ({
  before: instantBefore(from),
  until: instantBefore(to),
})

/** The statement of an export for a period, and the balances at its end. */
export type ClosedPeriod = ComputedBalances & { chain: string; lines: StatementLine[] }

/** Returns the lines of the period that `sums` has summed up to its last row. */
export function closePeriod(
  sums: LedgerSums,
  { manifest, period }: { manifest: Manifest; period: Period },
): ClosedPeriod {
  const { labels, newest, valuation } = sums
  // The chain of a job may have another name than its id.
  const chain = newest?.chain ?? manifest.job.chain
  const all = sums.finishPeriod()
  const computed = toBalances(sums.balances, { labels, manifest, newest, all: true })
  const context = { all, chain, valuation, instants: instantsOf(period) }
  return { ...computed, chain, lines: computed.balances.flatMap((balance) => linesOf(balance, context)) }
}

type LineContext = {
  all: StatementSums
  chain: string
  valuation: Valuation
  instants: ReturnType<typeof instantsOf>
}

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
