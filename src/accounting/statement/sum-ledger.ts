import { BalanceSums } from '../../ledger/balances/balance-sums.ts'
import { labelsOf } from '../../ledger/balances/balances.ts'
import {
  type ChainWallets,
  type Opening,
  type OpeningFindings,
  type OpeningOption,
  readOpening,
} from '../../ledger/balances/read-opening.ts'
import { selectWallets } from '../../ledger/balances/select-wallets.ts'
import { applyNames } from '../../read/address-book.ts'
import { type Dataset, requireLedger, uncoveredWalletError } from '../../read/dataset.ts'
import type { Movement } from '../movement.ts'
import { markOwnTransfers, type OwnWallets } from '../own-transfers.ts'
import type { Period } from '../period.ts'
import { groupByWallet } from '../text-writer.ts'
import { MOVEMENT_COLUMNS, type MovementRow, movementOf } from '../transactions.ts'
import { flowsOf } from './flows.ts'
import { StatementSums } from './statement-sums.ts'
import { openValuation, type Valuation, type ValuationOptions } from './valuation.ts'

/** Options of what is summed. */
export type SumOptions = ValuationOptions & {
  /** Addresses or labels of the wallets. @default all wallets */
  wallets?: readonly string[]
  /** Opening balances, held before the first row of each export, as for `balances`. @default those that are known */
  opening?: OpeningOption
  /** CSV file with the columns address and name: labels of wallets that have none in the job. */
  names?: string | undefined
}

/** The newest row up to the end of the period; undefined if there is none. */
export type Newest = { block: number; time: string; chain: string } | undefined

/** Sums the ledger of an export in chain order: balances from its first row on, and the flows of a period. */
export class LedgerSums {
  readonly balances = new BalanceSums()
  readonly valuation: Valuation
  /** Labels by address; those of wallets that the manifest lacks are added from their rows. */
  readonly labels: Map<string, string | null>
  /** The wallets that are summed. */
  readonly selected: ReadonlySet<string>
  readonly opening: OpeningFindings
  newest: Newest
  #period: Period
  #statement: StatementSums
  #transaction: Movement[] = []
  readonly #ownWallets: OwnWallets | undefined

  constructor(inputs: Inputs, period: Period) {
    const { opening, labels, selected, valuation } = inputs
    this.#ownWallets = inputs.ownWallets
    this.#period = period
    this.valuation = valuation
    this.labels = labels
    this.selected = selected
    this.opening = opening.findings
    this.#statement = this.#newStatement()
    for (const { wallet, asset, value } of opening.amounts) {
      if (!selected.has(wallet)) continue
      this.balances.open(wallet, asset, value)
      this.#statement.open(wallet, asset, value)
    }
  }

  /** Adds the next row, which must not be later than the period. */
  add(row: MovementRow): void {
    const { wallet_address: wallet, block_timestamp: time } = row
    this.newest = { block: Number(row.block_number), time, chain: row.chain_id }
    if (!this.labels.has(wallet)) this.labels.set(wallet, row.wallet_label)
    this.balances.add(row)
    if (time < this.#period.from) {
      const asset = { type: row.asset_type, address: row.asset_address, tokenId: row.token_id }
      this.#statement.open(wallet, asset, BigInt(row.value))
      return
    }
    const movement = movementOf(row, this.valuation.contracts)
    if (this.#transaction[0]?.transaction !== movement.transaction) this.#endTransaction()
    this.#transaction.push(movement)
  }

  /** The sums of the period. Call it after its last row. */
  finishPeriod(): StatementSums {
    this.#endTransaction()
    return this.#statement
  }

  /** Starts the next period, which opens with the balances of the rows up to here. */
  startPeriod(period: Period): void {
    this.#endTransaction()
    this.#period = period
    this.#statement = this.#newStatement()
    for (const { wallet, value, ...asset } of this.balances.finish())
      this.#statement.open(wallet, asset, value)
  }

  #newStatement(): StatementSums {
    return new StatementSums(({ asset, value }, time) => this.valuation.valueAt(asset, value, time))
  }

  #endTransaction(): void {
    if (this.#ownWallets !== undefined) markOwnTransfers(this.#transaction, this.#ownWallets)
    for (const movements of groupByWallet(this.#transaction)) {
      const [{ wallet, time }] = movements
      for (const movement of movements) this.#statement.count(movement)
      for (const flow of flowsOf(movements)) this.#statement.add(wallet, flow, time)
    }
    this.#transaction = []
  }
}

type Inputs = {
  opening: Opening
  labels: Map<string, string | null>
  selected: ReadonlySet<string>
  valuation: Valuation
  /** Set only if the statement is of several exports of the chain. */
  ownWallets: OwnWallets | undefined
}

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
  return new LedgerSums(
    { opening, labels, selected, ownWallets, valuation: await openValuation(opened, options) },
    period,
  )
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
