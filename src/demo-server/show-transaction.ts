import { describeChain } from './chain-info.ts'
import { HttpError } from './http-error.ts'
import { type JsonObject, objectOf } from './json.ts'
import type { ListingContext } from './list-wallet.ts'
import { listedNative } from './listed.ts'
import { readHash } from './path-parameters.ts'
import { priceDetails } from './prices.ts'
import type { Call } from './route.ts'
import { dropsEmptyAt, viewItem } from './wallet-view.ts'

/**
 * Returns one transaction with all entries of its lists, unfiltered, with its gas prices, and the chain's native coin
 * with its price at that time if it is known. The
 * call input and the base fee of the block are empty strings if they are unknown.
 *
 * @throws `HttpError` 404 if the transaction is unknown or after the head
 */
export async function showTransaction(
  { path }: Call,
  { chain, quirks, refreshMetadata }: Pick<ListingContext, 'chain' | 'quirks' | 'refreshMetadata'>,
): Promise<JsonObject> {
  const hash = readHash(path.txHash)
  const chainItems = await chain.items()
  const position = chainItems.positionOf(hash)
  if (position === undefined || (chainItems.blockNumbers[position] as number) > chain.head()) {
    throw new HttpError(404, `chain ${chain.id} has no transaction ${hash} here.`)
  }
  const item = chainItems.items[position] as JsonObject
  const view = refreshMetadata(viewItem(item, { dropsEmpty: dropsEmptyAt(chainItems, position) }))
  const native = objectOf(view.nativeTransaction)
  const prices = await priceDetails(chain, native)
  const nativeTransaction = { ...listedNative(native, quirks), input: inputOf(view), ...prices }
  const { networkToken } = describeChain(chain.id)
  const historicalPrice = historicalPriceOf(chain.id, native)
  const networkTokenDetails =
    historicalPrice === undefined ? { networkToken } : { networkToken, historicalPrice }
  return { ...view, nativeTransaction, networkTokenDetails }
}

/** Call input of a transaction: `0x` for a plain transfer, otherwise an empty string (unknown). */
export function inputOf(item: JsonObject): string {
  const { method } = objectOf(item.nativeTransaction)
  return objectOf(method).callType === 'NATIVE_TRANSFER' ? '0x' : ''
}

const DAY_SECONDS = 86_400

/**
 * Returns the made-up price of the demo coin at the time of a transaction: it changes once per UTC day, between 17 and 22
 * USD. Undefined for other chains, whose prices are not recorded.
 */
function historicalPriceOf(chain: string, { blockTimestamp }: JsonObject): JsonObject | undefined {
  if (chain !== '43114') return undefined
  const day = Math.floor(Number(blockTimestamp) / DAY_SECONDS)
  return { currencyCode: 'usd', value: (1_700 + ((day * 137) % 500)) / 100 }
}
