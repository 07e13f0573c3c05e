import { isOfChain } from '../../core/model/chains.ts'
import type { ItemKey } from '../../core/model/item-key.ts'
import { toLowerCase } from '../../core/platform/byte-text.ts'
import { previewJson } from '../../core/platform/json-text.ts'

/**
 * Reads the key of a wallet listing item (interface section 2.8): its position in the chain, hash and time.
 * Strings are byte strings.
 *
 * @param chain expected chain; items of others are rejected. @default any
 * @returns the key, or the reason why the item has none
 */
export function keyOfItem(item: unknown, chain?: string): ItemKey | string {
  const native = (item as { nativeTransaction?: unknown } | null)?.nativeTransaction
  if (typeof native !== 'object' || native === null) return 'nativeTransaction is missing'
  const { chainId, blockNumber, blockIndex, txHash, blockTimestamp, blockTimestampMilliseconds } =
    native as Record<string, unknown>
  if (chain !== undefined && !isOfChain(chainId, chain)) return wrongChainReason(chainId, chain)
  const block = wholeNumber(blockNumber)
  if (block === undefined) return `blockNumber is not a block number: ${previewJson(blockNumber)}`
  const index = wholeNumber(blockIndex)
  if (index === undefined || index > INT32_MAX)
    return `blockIndex is not an int32: ${previewJson(blockIndex)}`
  if (typeof txHash !== 'string' || txHash === '') return `txHash is missing: ${previewJson(txHash)}`
  const times = timesOf(wholeNumber(blockTimestamp), wholeNumber(blockTimestampMilliseconds))
  if (times === undefined) return `blockTimestamp is not a time: ${previewJson(blockTimestamp)}`
  const { timeMs, lastMs, second } = times
  return { block, index, hash: toLowerCase(txHash), timeMs, lastMs, second }
}

/** The reason for rejecting a record of another chain. */
export function wrongChainReason(found: unknown, chain: string): string {
  return `chainId is not ${chain}: ${previewJson(found)}`
}

/**
 * The time of a block; undefined if neither field contains one. Milliseconds are used only if they are within
 * the second of `blockTimestamp`: some services send 0, or the time of another block, for blocks older than
 * the field. They are used alone only if `blockTimestamp` is not a time and they are not 0.
 */
function timesOf(
  seconds: number | undefined,
  ms: number | undefined,
): Pick<ItemKey, 'timeMs' | 'lastMs' | 'second'> | undefined {
  const second = seconds ?? Math.floor((ms || Number.NaN) / 1000)
  const isWithin = ms !== undefined && Math.floor(ms / 1000) === second
  const timeMs = isWithin ? ms : second * 1000
  return timeMs <= TIME_MAX ? { timeMs, lastMs: isWithin ? ms : timeMs + 999, second } : undefined
}

/**
 * Wraps a native transaction of the block listing (interface section 2.2) as an item of the wallet listing
 * without transfers.
 */
export function itemFromNative(native: unknown): { nativeTransaction: unknown } {
  return { nativeTransaction: native }
}

/** Wraps an entry of the listing of internal transactions, which does not name its position within the block. */
export function itemFromInternal(entry: unknown): { nativeTransaction: unknown } {
  const isObject = typeof entry === 'object' && entry !== null
  return { nativeTransaction: isObject ? { ...entry, blockIndex: 0 } : entry }
}

const INT32_MAX = 2 ** 31 - 1

/** 9999-12-31T23:59:59.999Z: the last instant that can be written with a four-digit year. */
export const TIME_MAX = 253_402_300_799_999

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined
}
