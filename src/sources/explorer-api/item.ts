import { type ItemKey, UNKNOWN_INDEX } from '../../core/model/item-key.ts'
import { toLowerCase } from '../../core/platform/byte-text.ts'
import { previewJson, writeJson } from '../../core/platform/json-text.ts'
import { type Fields, INT32_MAX, isObject, timesOf, valueAt, wholeNumber } from '../fields.ts'

/** The listings of a wallet by their field in an item, with the action that requests each. */
export const LISTINGS = {
  normal: 'txlist',
  internal: 'txlistinternal',
  erc20: 'tokentx',
  erc721: 'tokennfttx',
  erc1155: 'token1155tx',
} as const
export type ListingName = keyof typeof LISTINGS
export const LISTING_NAMES: readonly ListingName[] = ['normal', 'internal', 'erc20', 'erc721', 'erc1155']

/** The records of one transaction in a wallet's listings, as the service returned them. */
export type Item = {
  hash: unknown
  blockNumber: unknown
  /** Null if the wallet is neither sender nor receiver of the transaction itself. */
  normal: Fields | null
} & Record<Exclude<ListingName, 'normal'>, readonly Fields[]>

/** Reads the key of an item, or returns the reason why it has none. Records do not name their chain. */
export function keyOf(item: unknown): ItemKey | string {
  const { hash, blockNumber } = (item ?? {}) as Partial<Item>
  if (typeof hash !== 'string' || hash === '') return `hash is missing: ${previewJson(hash)}`
  const block = wholeNumber(blockNumber)
  if (block === undefined) return `blockNumber is not a block number: ${previewJson(blockNumber)}`
  const record = positionRecordOf(item)
  const times = timesOf(wholeNumber(record?.timeStamp), undefined)
  if (times === undefined) return `timeStamp is not a time: ${previewJson(record?.timeStamp)}`
  const position = record?.transactionIndex
  const index = position === undefined || position === '' ? UNKNOWN_INDEX : wholeNumber(position)
  if (index === undefined || index > INT32_MAX)
    return `transactionIndex is not an int32: ${previewJson(position)}`
  const { timeMs, lastMs, second } = times
  return { block, index, hash: toLowerCase(hash), timeMs, lastMs, second }
}

/** The hash of the transaction that a record belongs to, in lower case. */
export function hashOf(record: Fields): string | undefined {
  const value = valueAt(record, 'hash') ?? valueAt(record, 'transactionHash')
  return typeof value === 'string' && value !== '' ? toLowerCase(value) : undefined
}

/**
 * A record that states the position and the block of the transaction; an internal transaction, which states neither, if
 * there is no other: its `transactionIndex` is its position in the trace.
 */
export function positionRecordOf(item: unknown): Fields | undefined {
  const lists = (item ?? {}) as Partial<Record<ListingName, unknown>>
  if (isObject(lists.normal)) return lists.normal
  const transfer = firstRecord(lists.erc20) ?? firstRecord(lists.erc721) ?? firstRecord(lists.erc1155)
  if (transfer !== undefined) return transfer
  const internal = firstRecord(lists.internal)
  return internal === undefined ? undefined : { timeStamp: internal.timeStamp }
}

const firstRecord = (list: unknown): Fields | undefined =>
  Array.isArray(list) ? list.find(isObject) : undefined

/** Fields that may change over time without a change on the chain. */
const MUTABLE_FIELDS: ReadonlySet<string> = new Set([
  'confirmations',
  'tokenName',
  'tokenSymbol',
  'tokenDecimal',
  'functionName',
  'methodId',
  'input',
])

/** The JSON of an item without its mutable fields. */
export const onChainFieldsOf = (item: unknown): string =>
  writeJson(item, (fields) => Object.keys(fields).filter((name) => !MUTABLE_FIELDS.has(name)))
