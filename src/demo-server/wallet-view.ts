import type { ChainItems } from './chain.ts'
import { type JsonObject, objectOf } from './json.ts'

/**
 * Returns an address's view of a transaction (interface 2.8): each list contains only the entries that the address (lower
 * case) is a party of, in their order. All other fields are unchanged and keep their order. Without an address, the lists
 * are unfiltered. With `dropsEmpty`, empty lists are omitted.
 */
export function viewItem(item: JsonObject, { address, dropsEmpty }: ViewOptions): JsonObject {
  const fields = Object.entries(item).map(
    ([field, value]) => [field, viewField(field, value, address)] as const,
  )
  return Object.fromEntries(
    fields.filter(([field, value]) => !(dropsEmpty && TRANSFER_LISTS.has(field) && isEmpty(value))),
  )
}

/** Whether empty lists are omitted from the item at a position. */
export function dropsEmptyAt({ blockNumbers, dropsEmptyInOddBlocks }: ChainItems, position: number): boolean {
  return dropsEmptyInOddBlocks && (blockNumbers[position] as number) % 2 === 1
}

/** The distinct addresses (lower case) that are parties of a transaction or of any entry of its lists. */
export function addressesOf(item: JsonObject): Set<string> {
  const lists = [...TRANSFER_LISTS].map((list) => item[list]).filter((list) => Array.isArray(list))
  const movements: unknown[] = [item.nativeTransaction, ...lists.flat()]
  return new Set(movements.flatMap(partiesOf).filter((address) => address !== ''))
}

/** Whether an address (lower case) is a party of a transaction only as receiver of its internal transactions. */
export function isOnlyReceiverOfInternals(item: JsonObject, address: string): boolean {
  const { internalTransactions: internals, ...others } = item
  if (!Array.isArray(internals) || addressesOf(others).has(address)) return false
  return !internals.some((entry) => partiesOf({ from: objectOf(entry).from }).includes(address))
}

type ViewOptions = {
  readonly address?: string
  readonly dropsEmpty: boolean
}

const TRANSFER_LISTS = new Set([
  'erc20Transfers',
  'erc721Transfers',
  'erc1155Transfers',
  'internalTransactions',
])

function viewField(field: string, value: unknown, address: string | undefined): unknown {
  if (address === undefined || !TRANSFER_LISTS.has(field) || !Array.isArray(value)) return value
  return value.filter((entry) => partiesOf(entry).includes(address))
}

/** The addresses (lower case) of the sender and the receiver; empty text for none. */
export function partiesOf(movement: unknown): string[] {
  const { from, to } = objectOf(movement)
  return [from, to].map((party) => String(objectOf(party).address ?? '').toLowerCase())
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
