import { type JsonObject, listOf, objectOf } from './json.ts'
import { listedPrice } from './prices.ts'
import type { Quirk } from './quirks.ts'

/** Returns a native transaction as listings and details show it. */
export function listedNative(native: JsonObject, quirks: ReadonlySet<Quirk>): JsonObject {
  const priced = listedPrice(native, quirks)
  return quirks.has('zero-milliseconds') && priced.blockTimestampMilliseconds === undefined
    ? { ...priced, blockTimestampMilliseconds: 0 }
    : priced
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
