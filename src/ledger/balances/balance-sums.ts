import { ASSET_TYPES, type Asset, AssetMap, assetBalanceKey } from '../../core/model/asset.ts'
import type { TextRows } from '../../core/table/index.ts'

/** The sum of a wallet's movements of one asset, in the asset's smallest unit. */
export type BalanceSum = Asset & {
  wallet: string
  value: bigint
  /** The symbol comes from the wallet's newest row that has it, or else from the rows of another wallet. */
  symbol: string | null
  /** The decimals come from the newest row of any wallet that has them. */
  decimals: number | null
  /** The first transaction after which the sum was negative. */
  firstNegative: { transaction: string; block: number; value: bigint } | undefined
  /** Whether the wallet paid the fee of a transaction that moved the asset. Tokens that others put into its history have none. */
  isUsed: boolean
}

/** `decimalsRow` is the number of the row that the decimals come from; 0 if no row has them. */
type Sum = BalanceSum & { decimalsRow: number }

/** The ledger columns that `add` reads. */
export const SUMMED_COLUMNS = [
  'transaction_hash',
  'block_number',
  'wallet_address',
  'entry_type',
  'asset_type',
  'asset_address',
  'token_id',
  'asset_symbol',
  'value',
  'counterparty_address',
  'method_name',
] as const

/** Without decimals, the values are as they are on the chain. */
type SummedRow = Pick<TextRows['ledger'], (typeof SUMMED_COLUMNS)[number]> &
  Partial<Pick<TextRows['ledger'], 'asset_decimals'>>

/**
 * Sums ledger rows by wallet and asset. Whether a sum is negative is checked only after the last row of each
 * transaction: rows within a transaction are not in order of execution, so intermediate sums have no meaning.
 */
export class BalanceSums {
  readonly #sums = new AssetMap<Sum>()
  #touched = new Set<Sum>()
  readonly #payers = new Set<string>()
  #transaction = ''
  #block = 0
  #rows = 0
  readonly #wrappers = new Set<string>()
  /** Parties of the transaction's native rows that may have been called to wrap or unwrap coins. */
  #coinParties = new Set<string>()

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
    this.#rows += 1
    if (row.asset_decimals != null) {
      sum.decimals = Number(row.asset_decimals)
      sum.decimalsRow = this.#rows
    }
    this.#touched.add(sum)
    if (row.entry_type === 'fee') this.#payers.add(row.wallet_address)
    if (type === 'native' && counterparty !== null && mayWrap(row.method_name))
      this.#coinParties.add(counterparty)
  }

  /** Returns all sums of the rows up to here. Call it between two transactions. */
  finish(): BalanceSum[] {
    this.#endTransaction()
    const sums = [...this.#sums.values()]
    const [symbols, newest] = [new Map<string, string | null>(), new Map<string, Sum>()]
    for (const sum of sums) {
      const key = assetBalanceKey('', sum)
      if (sum.symbol !== null) symbols.set(key, sum.symbol)
      if (sum.decimalsRow > (newest.get(key)?.decimalsRow ?? 0)) newest.set(key, sum)
    }
    return sums.map(({ decimalsRow: _, ...sum }) => {
      const key = assetBalanceKey('', sum)
      const symbol = sum.symbol ?? symbols.get(key) ?? null
      return { ...sum, symbol, decimals: newest.get(key)?.decimals ?? null }
    })
  }

  /**
   * Whether native coins moved to or from the contract in a transaction without rows of its token, in a call of `deposit()`,
   * of `withdraw(uint256)` or of a method that is not known.
   */
  isWrapper(address: string | null): boolean {
    return address !== null && this.#wrappers.has(address)
  }

  #endTransaction(): void {
    for (const sum of this.#touched) {
      if (sum.value < 0n)
        sum.firstNegative ??= { transaction: this.#transaction, block: this.#block, value: sum.value }
      sum.isUsed ||= this.#payers.has(sum.wallet)
    }
    if (this.#coinParties.size > 0) this.#addWrappers()
    this.#touched.clear()
    this.#payers.clear()
  }

  #addWrappers(): void {
    for (const { address } of this.#touched) if (address !== null) this.#coinParties.delete(address)
    for (const party of this.#coinParties) if (this.#wrappers.size < MAX_WRAPPERS) this.#wrappers.add(party)
    this.#coinParties.clear()
  }

  #sumOf(wallet: string, asset: Asset): Sum {
    let sum = this.#sums.get(wallet, asset)
    if (sum === undefined) {
      sum = {
        ...asset,
        wallet,
        value: 0n,
        symbol: null,
        decimals: null,
        decimalsRow: 0,
        firstNegative: undefined,
        isUsed: false,
      }
      this.#sums.add(wallet, asset, sum)
    }
    return sum
  }
}

/** Most of them are plain accounts that coins were sent to. The number bounds the memory for them. */
const MAX_WRAPPERS = 100_000

/** Whether a method wraps or unwraps the native coin, as written in `method_name`, where explorers add the names of arguments. */
const mayWrap = (method: string | null): boolean =>
  method === null || /^(deposit(\(\))?|withdraw(\(uint256( \w+)?\))?)$/.test(method)

/** The columns that name a balance, in the order of files. */
export const BALANCE_COLUMNS = [
  'wallet_address',
  'wallet_label',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'token_id',
] as const

/** The columns that name a wallet and one of its assets, in every list of balances. */
export function balanceColumns(
  { wallet, type, address, symbol, tokenId }: Asset & { wallet: string; symbol: string | null },
  label: string | null,
) {
  return {
    wallet_address: wallet,
    wallet_label: label,
    asset_type: type,
    asset_address: address,
    asset_symbol: symbol,
    token_id: tokenId,
  }
}

/** Compares by wallet; within a wallet by asset type (the native coin first), contract and token id. */
export function compareSums(a: Asset & { wallet: string }, b: Asset & { wallet: string }): number {
  return (
    compareTexts(a.wallet, b.wallet) ||
    ASSET_TYPES.indexOf(a.type) - ASSET_TYPES.indexOf(b.type) ||
    compareTexts(a.address ?? '', b.address ?? '') ||
    compareIds(a.tokenId ?? '', b.tokenId ?? '')
  )
}

export const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
/** Compares decimal integers without leading zeros by value. */
const compareIds = (a: string, b: string) => a.length - b.length || compareTexts(a, b)
