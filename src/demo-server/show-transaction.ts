import { describeChain } from './chain-info.ts'
import { HttpError } from './http-error.ts'
import { type JsonObject, objectOf } from './json.ts'
import type { ListingContext } from './list-wallet.ts'
import { readHash } from './path-parameters.ts'
import type { Call } from './route.ts'
import { dropsEmptyAt, viewItem } from './wallet-view.ts'

/**
 * Answers one transaction with all entries of its lists, whoever their parties are, and the chain's coin. The call's
 * input and the block's base fee are empty where they are not known. Refuses with 404 what is unknown or past the head.
 */
export async function showTransaction(
  { path }: Call,
  { chain, refreshMetadata }: Pick<ListingContext, 'chain' | 'refreshMetadata'>,
): Promise<JsonObject> {
  const hash = readHash(path.txHash)
  const chainItems = await chain.items()
  const position = chainItems.positionOf(hash)
  if (position === undefined || (chainItems.blockNumbers[position] as number) > chain.head()) {
    throw new HttpError(404, `chain ${chain.id} has no transaction ${hash} here.`)
  }
  const item = chainItems.items[position] as JsonObject
  const view = refreshMetadata(viewItem(item, { dropsEmpty: dropsEmptyAt(chainItems, position) }))
  const nativeTransaction = { ...objectOf(view.nativeTransaction), input: inputOf(view), baseFeePerGas: '' }
  const { networkToken } = describeChain(chain.id)
  return { ...view, nativeTransaction, networkTokenDetails: { networkToken } }
}

/** The call's input: none for a plain transfer, and empty text, for unknown, otherwise. */
export function inputOf(item: JsonObject): string {
  const { method } = objectOf(item.nativeTransaction)
  return objectOf(method).callType === 'NATIVE_TRANSFER' ? '0x' : ''
}
