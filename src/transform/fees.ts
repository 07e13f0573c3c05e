import { feeKey, feeOf, type PaidPrice } from '../core/model/fees.ts'
import type { Cells } from '../core/table/index.ts'
import type { Native } from '../sources/view.ts'
import type { OpenFee } from './staged/page-index.ts'

/**
 * Where the prices of transactions with a fee cap come from, if a wallet of the job sent them. Those of others
 * stay unknown, so that rows do not depend on when the prices were probed. Structured-cloneable, so that it can
 * be passed to a thread.
 */
export type FeeSource =
  /** It is not known yet whether the listed gas price is the price that was paid. */
  | { from: 'undecided' }
  /** The listed gas price may be the fee cap: fees are upper bounds. */
  | { from: 'listing' }
  /** The listed gas price is the price that was paid. */
  | { from: 'effective listing' }
  /** Details by `feeKey`. The listed price of transactions without details may be the fee cap. */
  | { from: 'details'; details: ReadonlyMap<string, PaidPrice> }

/** From this type (EIP-1559) on, a transaction has a fee cap instead of a gas price. */
const FIRST_CAPPED_TYPE = 2

/** The native row with the price that was paid, and what is not known about its fee. */
export type PaidNative = {
  native: Native
  /** Whether the fee, or a part of it, is unknown. */
  isFeeUnknown: boolean
  /** Whether the fee is computed from a listed price that may be the fee cap. */
  isFeeUpperBound: boolean
  /** The listed price if details would state the price that was paid. */
  openPrice?: string | undefined
}

/**
 * Sets the `effective_gas_price` and the `transaction_fee` of a transaction that a wallet of the job sent, unless the source
 * states the price that was paid.
 */
export function withPaidPrice(native: Native, fees: FeeSource): PaidNative {
  const { prefix, row } = native
  const { transaction_type: type, gas_price: listed } = row
  const isFeeUnknown = isUnknown(row)
  if (type === null || type < FIRST_CAPPED_TYPE || row.effective_gas_price !== null)
    return { native, isFeeUnknown, isFeeUpperBound: false }
  const paid = paidPrice(fees, { key: feeKey(prefix.block_hash ?? '', prefix.transaction_hash), listed })
  if (paid === undefined)
    return { native, isFeeUnknown, isFeeUpperBound: !hasNoFee(row), openPrice: openPrice(fees, listed) }
  const { price, extra = row.extra_fee } = paid
  const fee = feeOf(row.gas_used, price, extra ?? '0')
  const paidRow = {
    ...row,
    effective_gas_price: price,
    transaction_fee: fee,
    extra_fee: fee === null ? null : extra,
  }
  return {
    native: { prefix, row: paidRow, isPartial: native.isPartial },
    isFeeUnknown: isUnknown(paidRow),
    isFeeUpperBound: false,
  }
}

const hasNoFee = ({ transaction_fee: fee }: Cells<'transactions'>) => fee === null || fee === '0'

/** Whether the fee is unknown or zero, or may lack a part. */
const isUnknown = (row: Cells<'transactions'>) => hasNoFee(row) || row.extra_fee === null

function paidPrice(
  fees: FeeSource,
  { key, listed }: { key: string; listed: string | null },
): PaidPrice | undefined {
  if (fees.from === 'details') return fees.details.get(key)
  return fees.from === 'effective listing' && listed !== null ? { price: listed } : undefined
}

function openPrice({ from }: FeeSource, listed: string | null): string | undefined {
  const mayAsk = from === 'undecided' || from === 'details'
  return mayAsk && listed !== null && listed !== '0' ? listed : undefined
}

export type OpenFees = Iterable<OpenFee> | AsyncIterable<OpenFee>

/** Finds out which prices were paid for transactions that wallets of the job sent. */
export type FeeResolver = {
  /** What is known at the moment. */
  current(): FeeSource
  /** Called with transactions of pages that were staged while the prices were undecided. */
  offer(transaction: OpenFee): void
  /**
   * Resolves once everything is known that these transactions need.
   *
   * @param transactions iterates over the transactions of all pages whose prices were not known when the pages
   *   were staged; one may occur several times
   */
  resolve(transactions: () => OpenFees): Promise<FeeSource>
  /** Waits for requests in the background. */
  close(): Promise<void>
}
