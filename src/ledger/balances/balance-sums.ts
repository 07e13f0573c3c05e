import type { TextRows } from '../../core/table/index.ts'

/** A fungible asset (the native coin or a token contract) or a single NFT. */
export type Asset = {
  type: string
  /** null for the native coin. */
  address: string | null
  tokenId: string | null
}

/** The sum of a wallet's movements of one asset, in the asset's smallest unit. */
export type BalanceSum = Asset & {
  wallet: string
  value: bigint
  /** Symbol and decimals come from the wallet's newest row that has them, or else from the rows of another wallet. */
  symbol: string | null
  decimals: number | null
  /** The first transaction after which the sum was negative. */
  firstNegative: { transaction: string; block: number; value: bigint } | undefined
}

/** The ledger columns that `add` reads. */
export const SUMMED_COLUMNS = [
  ...['transaction_hash', 'block_number', 'wallet_address', 'asset_type', 'asset_address', 'token_id'],
  ...['asset_symbol', 'asset_decimals', 'value', 'counterparty_address', 'method_name'],
] as const

type SummedRow = Pick<TextRows['ledger'], (typeof SUMMED_COLUMNS)[number]>

/**
 * Sums ledger rows by wallet and asset. Whether a sum is negative is checked only after the last row of each
 * transaction: rows within a transaction are not in order of execution, so intermediate sums have no meaning.
 */
export class BalanceSums {
  readonly #sums = new Map<string, BalanceSum>()
  #touched = new Set<BalanceSum>()
  #transaction = ''
  #block = 0
  readonly #wrappers = new Set<string>()

  /** Adds an opening balance: what a wallet held before the first row. */
  open(wallet: string, asset: Asset, value: bigint): void {
    this.#sumOf(wallet, asset).value += value
  }

  /** Adds the next row. Rows must arrive in chain order. */
  add(row: SummedRow): void {
    const { asset_type: type, counterparty_address: counterparty } = row
    if (row.transaction_hash !== this.#transaction) {
      this.#endTransaction()
      this.#transaction = row.transaction_hash
      this.#block = Number(row.block_number)
    }
    const sum = this.#sumOf(row.wallet_address, { type, address: row.asset_address, tokenId: row.token_id })
    sum.value += BigInt(row.value)
    sum.symbol = row.asset_symbol ?? sum.symbol
    if (row.asset_decimals !== null) sum.decimals = Number(row.asset_decimals)
    this.#touched.add(sum)
    if (type === 'native' && WRAP_METHODS.has(row.method_name ?? '') && counterparty !== null)
      this.#wrappers.add(counterparty)
  }

  /** Returns all sums of the rows up to here. Call it between two transactions. */
  finish(): BalanceSum[] {
    this.#endTransaction()
    const sums = [...this.#sums.values()]
    const [symbols, decimals] = [new Map<string, string | null>(), new Map<string, number | null>()]
    for (const sum of sums) {
      if (sum.symbol !== null) symbols.set(assetBalanceKey('', sum), sum.symbol)
      if (sum.decimals !== null) decimals.set(assetBalanceKey('', sum), sum.decimals)
    }
    return sums.map((sum) => ({
      ...sum,
      symbol: sum.symbol ?? symbols.get(assetBalanceKey('', sum)) ?? null,
      decimals: sum.decimals ?? decimals.get(assetBalanceKey('', sum)) ?? null,
    }))
  }

  /** Whether native coins moved to or from the contract in a call of one of `WRAP_METHODS`. */
  isWrapper(address: string | null): boolean {
    return address !== null && this.#wrappers.has(address)
  }

  #endTransaction(): void {
    for (const sum of this.#touched) {
      if (sum.value < 0n)
        sum.firstNegative ??= { transaction: this.#transaction, block: this.#block, value: sum.value }
    }
    this.#touched.clear()
  }

  #sumOf(wallet: string, asset: Asset): BalanceSum {
    const key = assetBalanceKey(wallet, asset)
    let sum = this.#sums.get(key)
    if (sum === undefined) {
      sum = { ...asset, wallet, value: 0n, symbol: null, decimals: null, firstNegative: undefined }
      this.#sums.set(key, sum)
    }
    return sum
  }
}

/** The map key of a wallet's balance of an asset. With an empty `wallet` it is the key of the asset itself. */
export function assetBalanceKey(wallet: string, { type, address, tokenId }: Asset): string {
  return `${wallet}|${type}|${address}|${tokenId}`
}

/** Methods that wrap and unwrap the native coin, as written in `method_name`. */
const WRAP_METHODS = new Set(['deposit()', 'withdraw(uint256)'])
