import { fillTable } from '../../core/duckdb/fill-table.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import type { Dataset } from '../../read/dataset.ts'

/** A transaction that moved native coins of a wallet in the block where ledger and service begin to differ. */
export type DivergentTransaction = {
  hash: string
  /** Of type 2 or above and without an effective gas price: the fee may be computed from the cap. False if unknown. */
  hasFeeCap: boolean
  /** Its type; null if unknown. */
  type: number | null
  /** Whether its fee may lack a part beyond gas. */
  mayLackFee: boolean
  /** The fee that the wallet paid, or 0. */
  fee: bigint
  /** By how much the fee exceeds what the transaction's details state; undefined if it does not, or was not looked up. */
  overstatedBy?: bigint
  /** Whether it moves coins apart from the fee. */
  moves: boolean
}

/** A wallet and a block. */
export type WalletBlock = { wallet: string; block: number }

export const walletBlockKey = ({ wallet, block }: WalletBlock): string => `${wallet}|${block}`

/** Reads the transactions with native ledger rows of these wallets in these blocks, in chain order. */
export async function readDivergentTransactions(
  { run, all, collect }: Dataset,
  places: readonly WalletBlock[],
): Promise<ReadonlyMap<string, DivergentTransaction[]>> {
  if (places.length === 0) return new Map()
  await fillTable(
    run,
    'places (wallet VARCHAR, block BIGINT)',
    places,
    ({ wallet, block }) => `(${quoteLiteral(wallet)}, ${block})`,
  )
  await collect(
    'moved (wallet VARCHAR, block BIGINT, hash VARCHAR, entry VARCHAR, value VARCHAR)',
    'ledger',
    (source) =>
      `SELECT wallet_address, CAST(block_number AS BIGINT), transaction_hash, entry_type, value
       FROM ${source} WHERE asset_type = 'native' AND
       (wallet_address, CAST(block_number AS BIGINT)) IN (SELECT (wallet, block) FROM places)`,
  )
  await collect(
    'typed (hash VARCHAR, type INTEGER, is_listed BOOLEAN, lacks_fee BOOLEAN)',
    'transactions',
    (source) =>
      `SELECT transaction_hash, CAST(transaction_type AS INTEGER),
         nullif(CAST(effective_gas_price AS VARCHAR), '') IS NULL, nullif(CAST(extra_fee AS VARCHAR), '') IS NULL
       FROM ${source} WHERE transaction_hash IN (SELECT hash FROM moved)`,
  )
  const rows = await all(
    `SELECT moved.*, typed.type, typed.is_listed, typed.lacks_fee FROM (SELECT row_number() OVER () AS position, * FROM moved) AS moved
     LEFT JOIN typed USING (hash) ORDER BY position`,
  )
  return groupTransactions(rows)
}

function groupTransactions(rows: readonly Record<string, unknown>[]): Map<string, DivergentTransaction[]> {
  const byPlace = new Map<string, DivergentTransaction[]>()
  for (const { wallet, block, hash, entry, value, ...typed } of rows) {
    const key = walletBlockKey({ wallet: String(wallet), block: Number(block) })
    const transactions = byPlace.get(key) ?? []
    byPlace.set(key, transactions)
    let transaction = transactions.find((transaction) => transaction.hash === hash)
    if (transaction === undefined) {
      const type = typed.type === null ? null : Number(typed.type)
      const hasFeeCap = typed.is_listed === true && (type ?? 0) >= 2
      const mayLackFee = typed.lacks_fee === true
      transaction = { hash: String(hash), type, hasFeeCap, mayLackFee, fee: 0n, moves: false }
      transactions.push(transaction)
    }
    if (entry === 'fee') transaction.fee -= BigInt(String(value))
    else transaction.moves = true
  }
  return byPlace
}
