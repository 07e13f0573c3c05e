import { type JsonObject, listOf, objectOf } from '../json.ts'

/** The five listings of an account, and the records that each takes from a transaction. */
export type Listings = Readonly<Record<ListingName, (item: JsonObject) => readonly JsonObject[]>>

export const LISTINGS = {
  txlist: (item) => [objectOf(item.nativeTransaction)],
  txlistinternal: (item) => listOf(item, 'internalTransactions'),
  tokentx: (item) => listOf(item, 'erc20Transfers'),
  tokennfttx: (item) => listOf(item, 'erc721Transfers'),
  token1155tx: (item) => listOf(item, 'erc1155Transfers'),
} as const satisfies Listings

export type ListingName = 'txlist' | 'txlistinternal' | 'tokentx' | 'tokennfttx' | 'token1155tx'

/** The token of a transfer; an empty object for other records. */
export function tokenOf(entry: JsonObject): JsonObject {
  return objectOf(entry.erc20Token ?? entry.erc721Token ?? entry.erc1155Token)
}

/** The addresses of a party, in lower case; empty text for none. */
export function addressOf(party: unknown): string {
  return String(objectOf(party).address ?? '').toLowerCase()
}

/**
 * Whether explorers list an internal transaction: any but a call without value.
 *
 * @param listsInherited whether they also list delegate calls, which show the value of their caller
 */
export function isListedInternal(
  { internalTxType, value }: JsonObject,
  { listsInherited }: { listsInherited: boolean },
): boolean {
  const type = String(internalTxType)
  if (type === 'DELEGATECALL') return listsInherited && value !== '0'
  return value !== '0' || !VALUE_CALLS.has(type)
}

const VALUE_CALLS: ReadonlySet<string> = new Set(['CALL', 'CALLCODE', 'STATICCALL'])
