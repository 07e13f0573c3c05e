import { addressOf, integerOf, type JsonObject, listOf, objectOf } from './json.ts'
import type { Quirk } from './quirks.ts'

/**
 * Returns an address's view of a transaction (interface 2.8): each list contains only the entries that the address (lower
 * case) is a party of, in their order. All other fields are unchanged and keep their order. Without an address, the lists
 * are unfiltered. With `dropsEmpty`, empty lists are omitted.
 */
export function viewItem(
  item: JsonObject,
  { address, dropsEmpty }: { readonly address?: string; readonly dropsEmpty: boolean },
): JsonObject {
  const fields = Object.entries(item).flatMap(([field, value]) => {
    if (!TRANSFER_LISTS.has(field) || !Array.isArray(value)) return [[field, value]]
    const entries =
      address === undefined ? value : value.filter((entry) => partiesOf(entry).includes(address))
    return dropsEmpty && entries.length === 0 ? [] : [[field, entries]]
  })
  return Object.fromEntries(fields)
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

const TRANSFER_LISTS = new Set([
  'erc20Transfers',
  'erc721Transfers',
  'erc1155Transfers',
  'internalTransactions',
])

/** The addresses (lower case) of the sender and the receiver; empty text for none. */
export function partiesOf(movement: unknown): string[] {
  const { from, to } = objectOf(movement)
  return [from, to].map((party) => addressOf(party).toLowerCase())
}

/** Returns a native transaction as listings and details show it: with its effective price, or with its fee cap. */
export function listedNative(native: JsonObject, quirks: ReadonlySet<Quirk>): JsonObject {
  const cap = quirks.has('fee-cap') ? feeCapOf(native) : undefined
  const hasNoMilliseconds = quirks.has('zero-milliseconds') && native.blockTimestampMilliseconds === undefined
  return {
    ...native,
    ...(cap === undefined ? {} : { gasPrice: String(cap) }),
    ...(hasNoMilliseconds ? { blockTimestampMilliseconds: 0 } : {}),
  }
}

/** Returns an unfiltered item as the wallet listings show it. */
export function listedItem(item: JsonObject, quirks: ReadonlySet<Quirk>): JsonObject {
  if (quirks.size === 0) return item
  const native = objectOf(item.nativeTransaction)
  const calls = quirks.has('top-level-call') ? tracedCalls(native) : []
  const internal = calls.length === 0 ? {} : { internalTransactions: [...calls, ...listOf(item, INTERNAL)] }
  return { ...item, nativeTransaction: listedNative(native, quirks), ...internal }
}

const INTERNAL = 'internalTransactions'

/**
 * Returns the first calls of a transaction's trace: the top-level call and, if it calls a contract, calls of the
 * contract that move no coins. A DELEGATECALL has the value of its caller.
 */
function tracedCalls(native: JsonObject): JsonObject[] {
  const { from, to, value, gasUsed, gasLimit, txStatus } = native
  const { callType } = objectOf(native.method)
  const isCreation = callType === 'CONTRACT_CREATION'
  const isReverted = String(txStatus) === '0'
  const topLevel = {
    from,
    to: isCreation ? { address: '' } : to,
    internalTxType: isCreation ? 'CREATE' : 'CALL',
    value,
    isReverted,
    gasUsed,
    gasLimit,
  }
  if (callType !== 'CONTRACT_CALL') return [topLevel]
  const back = { from: to, to: from, isReverted, gasUsed: '700', gasLimit: '30000' }
  return [
    topLevel,
    { ...back, internalTxType: 'DELEGATECALL', value },
    { ...back, internalTxType: 'STATICCALL', value: '0' },
    { ...back, internalTxType: 'CALL', value: '0' },
  ]
}

/** The gas prices of a transaction that details state in addition to the listing. */
type PriceDetails = {
  baseFeePerGas: string
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

/**
 * Returns the base fee of the block, and the cap and the tip of a type-2 transaction. The lower one of the
 * cap and of base fee + tip is the price that was paid. The base fee is an empty string if the price is unknown.
 */
export function priceDetails(native: JsonObject, base: bigint | undefined): PriceDetails {
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
