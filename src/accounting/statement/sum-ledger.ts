import type { BalanceSums } from '../../ledger/balances/balance-sums.ts'
import { type OpenExport, uncoveredWalletError } from '../../read/open-export.ts'
import type { Movement } from '../movement.ts'
import type { Contracts } from '../names/contracts.ts'
import type { Period } from '../period.ts'
import { groupByWallet } from '../text-writer.ts'
import { MOVEMENT_COLUMNS, movementOf } from '../transactions.ts'
import { flowsOf } from './flows.ts'
import type { StatementSums } from './statement-sums.ts'

/** The sums of an export up to the end of a period. */
type Sums = { balances: BalanceSums; statement: StatementSums }
/** The newest row up to the end of the period; undefined if there is none. */
export type Newest = { block: number; time: string; chain: string } | undefined

type SumContext = {
  period: Period
  /** Labels by address; those of wallets that it lacks are added from their rows. */
  labels: Map<string, string | null>
  /** The wallets of the export, and those to sum. */
  covered: ReadonlySet<string>
  selected: ReadonlySet<string>
  contracts: Contracts
}

/** Adds the rows up to the end of the period to the sums, and returns the position of the last one. */
export async function sumLedger(opened: OpenExport, sums: Sums, context: SumContext): Promise<Newest> {
  const { period, labels, covered, selected, contracts } = context
  let newest: Newest
  let transaction: Movement[] = []
  for await (const rows of opened.stream('ledger', MOVEMENT_COLUMNS)) {
    for (const row of rows) {
      const { wallet_address: wallet, block_timestamp: time } = row
      if (!covered.has(wallet)) throw uncoveredWalletError(wallet)
      if (!selected.has(wallet) || time >= period.to) continue
      newest = { block: Number(row.block_number), time, chain: row.chain_id }
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
