import { integerOf } from './base-fees.ts'
import type { Chain } from './chain.ts'
import type { JsonObject } from './json.ts'
import type { Quirk } from './quirks.ts'

/** The gas prices of a transaction that details state in addition to the listing. */
export type PriceDetails = {
  baseFeePerGas: string
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

/** Returns a native transaction as the listings show it: with its effective price, or with its fee cap. */
export function listedPrice(native: JsonObject, quirks: ReadonlySet<Quirk>): JsonObject {
  const cap = quirks.has('fee-cap') ? feeCapOf(native) : undefined
  return cap === undefined ? native : { ...native, gasPrice: String(cap) }
}

/**
 * Returns the base fee of the block, and the cap and the tip of a type-2 transaction. The lower one of the
 * cap and of base fee + tip is the price that was paid. The base fee is an empty string if the price is unknown.
 */
export async function priceDetails(chain: Chain, native: JsonObject): Promise<PriceDetails> {
  const base = await chain.baseFee(Number(native.blockNumber))
  const [cap, price] = [feeCapOf(native), integerOf(native.gasPrice)]
  if (base === undefined || price === undefined) return { baseFeePerGas: '' }
  if (cap === undefined) return { baseFeePerGas: String(base) }
  const tip = cap === price ? cap : price - base
  return { baseFeePerGas: String(base), maxFeePerGas: String(cap), maxPriorityFeePerGas: String(tip) }
}

/**
 * The fee cap of a type-2 transaction; undefined for other types. The recorded chains do not contain it: it is
 * twice the price that was paid, or that price itself in a quarter of the transactions.
 */
function feeCapOf({ txType, txHash, gasPrice }: JsonObject): bigint | undefined {
  const price = integerOf(gasPrice)
  if (Number(txType) !== 2 || price === undefined) return undefined
  return /[0-3]$/.test(String(txHash)) ? price : 2n * price
}
