import { AssetMap, type Asset as BalanceAsset, isNft } from '../../core/model/asset.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { type AdjustmentFindings, addAdjustments } from '../../ledger/balances/adjustments.ts'
import { BalanceSums } from '../../ledger/balances/balance-sums.ts'
import {
  type Balance,
  type ComputedBalances,
  labelsOf,
  selectWallets,
  toBalances,
} from '../../ledger/balances/balances.ts'
import {
  type ChainWallets,
  type Opening,
  type OpeningOption,
  readOpening,
} from '../../ledger/balances/read-opening.ts'
import { exactFiatValue, type Prices, pricedChainOf, readPrices } from '../../ledger/prices/prices.ts'
import { applyNames } from '../../read/address-book.ts'
import { type Dataset, requireLedger, uncoveredWalletError } from '../../read/dataset.ts'
import { type Asset, groupByWallet, type Movement } from '../movement.ts'
import { type Contracts, readContracts } from '../names/contracts.ts'
import { addNeeded, type PriceNeeded, sortedPrices } from '../needed.ts'
import { instantBefore, type Period } from '../options.ts'
import { matchOwnTransfers } from '../paid-swaps.ts'
import {
  MOVEMENT_COLUMNS,
  type MovementRow,
  markOwnTransfers,
  movementOf,
  type OwnWallets,
} from '../transactions.ts'
import { type AmountName, FLOWS, type FlowName, flowsOf, isInflow } from './flows.ts'

/** Options of what is summed. */
export type SumOptions = ValuationOptions & {
  /** Addresses or labels of the wallets. @default all wallets */
  wallets?: readonly string[]
  /** Opening balances, held before the first row of each export, as for `balances`. @default those that are known */
  opening?: OpeningOption
  /** CSV file of adjustments, as for `balances`. @default none */
  adjustments?: string | undefined
  /** CSV file with the columns address and name: labels of wallets that have none in the job. */
  names?: string | undefined
}

/** The newest row up to the end of the period; undefined if there is none. */
export type Newest = { block: number; time: string; chain: string } | undefined

/** What happened to a wallet's asset in the period. */
export type StatementLine = Omit<Balance, 'value' | 'amount'> & {
  chain_id: string
  /**
   * In the asset's smallest unit; flows are not negative. `closing` = `opening` + `received` - `sent` + `own_in` - `own_out` +
   * `income` + `swapped_in` - `swapped_out` + `wrapped_in` - `wrapped_out` - `fees`.
   */
  amounts: Record<AmountName, bigint>
  /** Values of the amounts in units of 10^-8 of the currency; null if a price is missing. */
  values: Record<AmountName, bigint | null>
  /** What the movements of each entry type add up to, sorted by type. */
  entries: EntryTotal[]
}

/** What moved by rows of one entry type: their number, and the amounts in and out in the asset's smallest unit. */
type EntryTotal = { type: string; movements: number; in: bigint; out: bigint }

/** The sums of a wallet's asset, in its smallest unit. */
type AssetSums = {
  opening: bigint
  flows: Record<FlowName, bigint>
  /** By entry type, sorted. */
  entries: EntryTotal[]
  /** Values of the flows in units of 10^-8 of the currency; null if a movement has no price. */
  values: Record<FlowName, bigint | null>
}

/** The statement of an export for a period, and the balances at its end. */
export type ClosedPeriod = ComputedBalances & { chain: string; lines: StatementLine[] }

type SummedLedger = {
  manifest: Manifest
  opening: Opening
  adjustments: AdjustmentFindings
  /** Labels by address; those of wallets that the manifest lacks are added from their rows. */
  labels: Map<string, string | null>
  selected: ReadonlySet<string>
  valuation: Valuation
  /** Set only if the statement is of several exports of the chain. */
  ownWallets: OwnWallets | undefined
}

/**
 * Sums the ledger of an export in chain order: balances from its first row on, and the flows of a period by wallet and
 * asset. Memory grows with the number of wallets and assets.
 */
export class LedgerSums {
  readonly ledger: SummedLedger
  newest: Newest
  readonly #balances = new BalanceSums()
  #period: Period
  #sums = new AssetMap<AssetSums>()
  #transaction: Movement[] = []

  constructor(ledger: SummedLedger, period: Period) {
    this.ledger = ledger
    this.#period = period
    for (const { wallet, asset, value } of ledger.opening.amounts) {
      if (!ledger.selected.has(wallet)) continue
      this.#balances.open(wallet, asset, value)
      this.#sumsOf(wallet, asset).opening += value
    }
  }

  /** Adds the next row, which must not be later than the period. */
  add(row: MovementRow): void {
    const { wallet_address: wallet, block_timestamp: time } = row
    const { labels, valuation } = this.ledger
    this.newest = { block: Number(row.block_number), time, chain: row.chain_id }
    if (!labels.has(wallet)) labels.set(wallet, row.wallet_label)
    this.#balances.add(row)
    if (time < this.#period.from) {
      const asset = { type: row.asset_type, address: row.asset_address, tokenId: row.token_id }
      this.#sumsOf(wallet, asset).opening += BigInt(row.value)
      return
    }
    const movement = movementOf(row, valuation.contracts)
    if (this.#transaction[0]?.transaction !== movement.transaction) this.#endTransaction()
    this.#transaction.push(movement)
  }

  /** Starts the next period, which opens with the balances of the rows up to here. */
  startPeriod(period: Period): void {
    this.#endTransaction()
    this.#period = period
    this.#sums = new AssetMap()
    for (const { wallet, value, ...asset } of this.#balances.finish())
      this.#sumsOf(wallet, asset).opening += value
  }

  /** Returns the lines of the period. Call it after its last row. */
  close(): ClosedPeriod {
    this.#endTransaction()
    const { labels, manifest } = this.ledger
    // The chain of a job may have another name than its id.
    const chain = this.newest?.chain ?? manifest.job.chain
    const computed = toBalances(this.#balances, { labels, manifest, newest: this.newest, all: true })
    return {
      ...computed,
      chain,
      lines: computed.balances.flatMap((balance) => this.#linesOf(balance, chain)),
    }
  }

  /** Returns the line of a balance at the end of the period; none if there was no balance and no movement. */
  #linesOf(balance: Balance, chain: string): StatementLine[] {
    const { value: closing, amount: _, ...columns } = balance
    const { asset_type, asset_address: address, token_id: tokenId, asset_symbol: symbol } = columns
    const type = asset_type as Asset['type']
    const asset: Asset = { type, address, tokenId, symbol, decimals: decimalsOf(columns) }
    const sums = this.#sums.get(columns.wallet_address, asset)
    if (sums === undefined || (closing === 0n && sums.opening === 0n && sums.entries.length === 0)) return []
    const { opening, flows, entries } = sums
    requireSum(sums, balance)
    const { valuation } = this.ledger
    const values = {
      opening: valuation.valueAt(asset, opening, instantBefore(this.#period.from)),
      ...sums.values,
      closing: valuation.valueAt(asset, closing, this.#closingTime()),
    }
    return [{ chain_id: chain, ...columns, amounts: { opening, ...flows, closing }, entries, values }]
  }

  /** The time at which closing balances are valued: the end of the period, or the newest row if it has not ended yet. */
  #closingTime(): string {
    const end = instantBefore(this.#period.to)
    return this.newest !== undefined && Date.parse(end) > Date.now() ? this.newest.time : end
  }

  #endTransaction(): void {
    const { ownWallets, valuation } = this.ledger
    if (ownWallets !== undefined) markOwnTransfers(this.#transaction, ownWallets)
    for (const movement of this.#transaction)
      countEntry(this.#sumsOf(movement.wallet, movement.asset).entries, movement)
    for (const movements of groupByWallet(matchOwnTransfers(this.#transaction))) {
      const [{ wallet, time }] = movements
      for (const { name, asset, value } of flowsOf(movements)) {
        const { flows, values } = this.#sumsOf(wallet, asset)
        flows[name] += value
        const [sum, added] = [values[name], valuation.valueAt(asset, value, time)]
        values[name] = sum === null || added === null ? null : sum + added
      }
    }
    this.#transaction = []
  }

  #sumsOf(wallet: string, asset: BalanceAsset): AssetSums {
    let sums = this.#sums.get(wallet, asset)
    if (sums === undefined) {
      sums = { opening: 0n, flows: zeroFlows(), entries: [], values: zeroFlows() }
      this.#sums.add(wallet, asset, sums)
    }
    return sums
  }
}

const zeroFlows = (): Record<FlowName, bigint> => ({
  received: 0n,
  sent: 0n,
  own_in: 0n,
  own_out: 0n,
  income: 0n,
  swapped_in: 0n,
  swapped_out: 0n,
  wrapped_in: 0n,
  wrapped_out: 0n,
  fees: 0n,
})

/** Counts a row of the period by its entry type. */
function countEntry(entries: EntryTotal[], { type, isOut, value }: Movement): void {
  let entry = entries.find((total) => total.type === type)
  if (entry === undefined) {
    entry = { type, movements: 0, in: 0n, out: 0n }
    entries.push(entry)
    entries.sort((a, b) => (a.type < b.type ? -1 : 1))
  }
  entry.movements += 1
  entry[isOut ? 'out' : 'in'] += value
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

export type SummedExport = {
  output: string
  options: SumOptions
  period: Period
  ownWallets?: OwnWallets | undefined
  /** All exports that are summed. @default this one */
  exports?: readonly ChainWallets[] | undefined
}

/** Opens the sums of an export. Throws USAGE if it has no ledger, or as `readOpening` and `openValuation` do. */
export async function openLedgerSums(
  opened: Dataset,
  { output, options, period, ownWallets, exports }: SummedExport,
): Promise<LedgerSums> {
  requireLedger(opened.manifest, output, 'statements are made from')
  const { manifest } = await applyNames(options.names, opened.manifest)
  const labels = labelsOf(manifest)
  const selected = selectWallets(manifest, options.wallets)
  const opening = await readOpening(options.opening, { opened, labels, exports })
  const adjustments = await addAdjustments(options.adjustments, { opened, labels, exports })
  const valuation = await openValuation(opened, options)
  return new LedgerSums({ manifest, opening, adjustments, labels, selected, ownWallets, valuation }, period)
}

/** Reads the rows of the selected wallets in chain order. */
export async function* readSelectedRows(
  opened: Dataset,
  selected: ReadonlySet<string>,
): AsyncGenerator<MovementRow[]> {
  const covered = selectWallets(opened.manifest, undefined)
  for await (const rows of opened.stream('ledger', MOVEMENT_COLUMNS)) {
    for (const { wallet_address: wallet } of rows)
      if (!covered.has(wallet)) throw uncoveredWalletError(wallet)
    yield rows.filter(({ wallet_address: wallet }) => selected.has(wallet))
  }
}

/** Values amounts at the prices of a file, and collects the prices that it lacks. */
type Valuation = {
  /** undefined if there is no file. */
  currency: string | undefined
  contracts: Contracts
  /** The value of an amount at a time, in units of 10^-8 of the currency; null if it has no price. */
  valueAt(asset: Asset, value: bigint, time: string): bigint | null
  /** The prices that were missing, sorted by day, chain and asset. */
  needed(): PriceNeeded[]
}

type ValuationOptions = {
  /** CSV file of prices, in the format of `convert`. @default no values */
  prices?: string | undefined
  /** Whether to collect missing prices although there is no file of prices. @default false */
  collectsNeeded?: boolean
}

/** Opens the valuation of an export. Throws USAGE if the file of prices is invalid. */
async function openValuation(
  opened: Dataset,
  { prices: file, collectsNeeded = false }: ValuationOptions,
): Promise<Valuation> {
  if (file === undefined && !collectsNeeded)
    return { currency: undefined, contracts: new Map(), valueAt: () => null, needed: () => [] }
  const priced = pricedChainOf(opened)
  const prices = file === undefined ? undefined : await readPrices(file, priced)
  return { contracts: await readContracts(opened), ...valueWith(prices, priced.chain) }
}

/** An amount of zero is worth nothing, whatever its price. NFTs and tokens without decimals have no price. */
function valueWith(prices: Prices | undefined, chain: string): Omit<Valuation, 'contracts'> {
  const needed = new Map<string, PriceNeeded>()
  return {
    currency: prices?.currency,
    valueAt: (asset, value, time) => {
      if (value === 0n) return 0n
      const { decimals } = asset
      if (isNft(asset) || decimals === null || decimals < 0 || decimals > 255) return null
      const price = prices?.at(asset, time)
      if (price !== undefined) return exactFiatValue(value, decimals, price)
      addNeeded(needed, { chain, asset, time })
      return null
    },
    needed: () => sortedPrices(needed),
  }
}
