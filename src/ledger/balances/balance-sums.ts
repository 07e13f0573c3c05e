import type { TextRow } from '../../read/scratch-database.ts'

/** What a wallet may have of: one coin or token, or one NFT. */
export type Asset = {
  type: string
  /** null for the chain's coin. */
  address: string | null
  tokenId: string | null
}

/** A wallet's sum of one asset, in its smallest unit. */
export type BalanceSum = Asset & {
  wallet: string
  value: bigint
  /** As the wallet's newest row has them that has any, or else another wallet's. */
  symbol: string | null
  decimals: number | null
  /** The first transaction at whose end the sum was below zero. */
  firstNegative: { transaction: string; block: number; value: bigint } | undefined
}

/** Columns of the ledger, in the order in which `add` takes their cells. */
export const SUMMED_COLUMNS = [
  ...['transaction_hash', 'block_number', 'wallet_address', 'asset_type', 'asset_address', 'token_id'],
  ...['asset_symbol', 'asset_decimals', 'value', 'counterparty_address', 'method_name'],
] as const

/** Sums ledger rows by wallet and asset, and looks at each sum at the end of each transaction, never within. */
export class BalanceSums {
  readonly #sums = new Map<string, BalanceSum>()
  #touched = new Set<BalanceSum>()
  #transaction = ''
  #block = 0
  readonly #wrappers = new Set<string>()

  /** What a wallet had before the first row. */
  open(wallet: string, asset: Asset, value: bigint): void {
    this.#sumOf(wallet, asset).value += value
  }

  /** The next row, in the order of the chain. */
  add(row: TextRow): void {
    const [hash, block, wallet, type, address, tokenId, symbol, decimals, value, counterparty, method] = row
    if (hash !== this.#transaction) {
      this.#endTransaction()
      this.#transaction = hash as string
      this.#block = Number(block)
    }
    const asset = { type: type as string, address: address ?? null, tokenId: tokenId ?? null }
    const sum = this.#sumOf(wallet as string, asset)
    sum.value += BigInt(value as string)
    sum.symbol = symbol ?? sum.symbol
    if (decimals != null) sum.decimals = Number(decimals)
    this.#touched.add(sum)
    if (type === 'native' && WRAP_METHODS.has(method ?? '') && counterparty != null)
      this.#wrappers.add(counterparty)
  }

  /** All sums, once the last row was added. */
  finish(): BalanceSum[] {
    this.#endTransaction()
    const sums = [...this.#sums.values()]
    const [symbols, decimals] = [new Map<string, string | null>(), new Map<string, number | null>()]
    for (const sum of sums) {
      if (sum.symbol !== null) symbols.set(assetBalanceKey('', sum), sum.symbol)
      if (sum.decimals !== null) decimals.set(assetBalanceKey('', sum), sum.decimals)
    }
    for (const sum of sums) {
      sum.symbol ??= symbols.get(assetBalanceKey('', sum)) ?? null
      sum.decimals ??= decimals.get(assetBalanceKey('', sum)) ?? null
    }
    return sums
  }

  /** Whether a contract took or gave coins in calls that wrap them. */
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

/** Tells a wallet's balance of an asset from every other balance. */
export function assetBalanceKey(wallet: string, { type, address, tokenId }: Asset): string {
  return `${wallet}|${type}|${address}|${tokenId}`
}

/** Methods by which a coin becomes a token and back, as `method_name` has them. */
const WRAP_METHODS = new Set(['deposit()', 'withdraw(uint256)'])
