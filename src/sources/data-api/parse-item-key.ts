import { isOfChain } from '../../core/model/chains.ts'
import type { ItemKey } from '../../core/model/item-key.ts'
import { toLowerCase } from '../../core/platform/byte-text.ts'
import { previewJson } from '../../core/platform/json-text.ts'
import { type Fields, INT32_MAX, timesOf, wholeNumber } from '../fields.ts'
import { isAtomicItem, keyOfAtomic } from './atomic.ts'

/**
 * Reads the key of an item: its position in the chain, hash and time. The item is one of a wallet listing (interface
 * section 2.8) or an atomic transaction, which is recognized by its fields.
 * Strings are byte strings.
 *
 * @param chain expected chain; items of others are rejected. @default any
 * @returns the key, or the reason why the item has none
 */
export function keyOfItem(item: unknown, chain?: string): ItemKey | string {
  const native = (item as { nativeTransaction?: unknown } | null)?.nativeTransaction
  if (typeof native !== 'object' || native === null)
    return isAtomicItem(item) ? keyOfAtomic(item, chain) : 'nativeTransaction is missing'
  return keyOfNative(native as Fields, chain)
}

/** Like `keyOfItem`, for a native transaction. */
export function keyOfNative(native: Fields, chain: string | undefined): ItemKey | string {
  const { chainId, blockNumber, blockIndex, txHash, blockTimestamp, blockTimestampMilliseconds } = native
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
