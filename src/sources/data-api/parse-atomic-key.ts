import { blockchainIdOf } from '../../core/model/chains.ts'
import type { ItemKey } from '../../core/model/item-key.ts'
import { type ByteText, toLowerCase } from '../../core/platform/byte-text.ts'
import { previewJson } from '../../core/platform/json-text.ts'
import { INT32_MAX, timesOf, wholeNumber } from '../item-time.ts'

/**
 * Position of every atomic transaction in its block: the service states none, and they take effect after the EVM
 * transactions of the block.
 */
const ATOMIC_INDEX = INT32_MAX

const ATOMIC_FIELDS = ['blockHeight', 'txType', 'evmInputs', 'evmOutputs', 'sourceChain', 'destinationChain']

/** Whether an item has the fields of an atomic transaction. Items of a wallet listing have none of them. */
export function isAtomicItem(item: unknown): item is Readonly<Record<string, unknown>> {
  return typeof item === 'object' && item !== null && ATOMIC_FIELDS.some((name) => name in item)
}

/**
 * Reads the key of an atomic transaction, or returns the reason why it has none.
 *
 * @param chain expected chain; items of other chains are rejected. @default any
 */
export function keyOfAtomic(item: Readonly<Record<string, unknown>>, chain?: string): ItemKey | string {
  const { blockHeight, txHash, timestamp } = item
  const wrongChain = chain === undefined ? undefined : wrongChainOf(item, chain)
  if (wrongChain !== undefined) return wrongChain
  const block = wholeNumber(blockHeight)
  if (block === undefined) return `blockHeight is not a block number: ${previewJson(blockHeight)}`
  if (typeof txHash !== 'string' || txHash === '') return `txHash is missing: ${previewJson(txHash)}`
  const times = timesOf(wholeNumber(timestamp), undefined)
  if (times === undefined) return `timestamp is not a time: ${previewJson(timestamp)}`
  return { block, index: ATOMIC_INDEX, hash: idText(txHash), ...times }
}

/** An id or hash. The letter case of hex digits has no meaning; that of other ids (base 58) has. */
export function idText(id: ByteText): ByteText {
  return /^0x/i.test(id) ? toLowerCase(id) : id
}

const BLOCKCHAIN_ID = /^[1-9A-HJ-NP-Za-km-z]{30,60}$/

/** The reason for rejecting a transaction of another C-Chain. Names of chains, such as `c-chain`, are not compared. */
function wrongChainOf({ txType, ...item }: Readonly<Record<string, unknown>>, chain: string) {
  const expected = blockchainIdOf(chain)
  const side = txType === 'ExportTx' ? 'sourceChain' : 'destinationChain'
  const found = item[side]
  if (expected === undefined || typeof found !== 'string' || !BLOCKCHAIN_ID.test(found)) return undefined
  return found === expected ? undefined : `${side} is not ${expected}: ${previewJson(found)}`
}
