import { evmIdOf, paysGasOnly } from '../../core/model/chains.ts'
import { BLOB_TYPE, feeOf } from '../../core/model/fees.ts'
import { type ItemKey, UNKNOWN_INDEX } from '../../core/model/item-key.ts'
import { jsonText } from '../../core/platform/json-text.ts'
import {
  boolAt,
  type Fields,
  int32At,
  int64At,
  isAbsent,
  isObject,
  listAt,
  lowerAt,
  RejectError,
  requiredLower,
  requiredU256,
  textAt,
  u256At,
} from '../fields.ts'
import type { OnBadEntry, ViewContext } from '../source.ts'
import type { Occurrences } from '../transfer-id.ts'
import type { Internal, Native, View } from '../view.ts'
import type { Dialect } from './dialect.ts'
import { type Item, keyOf, type ListingName, onChainFieldsOf, positionRecordOf } from './item.ts'
import { isErc721, isErc1155, readErc20, readErc721, readErc1155 } from './transfers.ts'

/**
 * Reads an item, or returns the reason why the transaction itself is invalid. Invalid records are passed to
 * `onBadEntry`; the rest is used.
 */
export function readView(item: unknown, context: ViewContext, dialect: Dialect): View | string {
  let isComplete = true
  const onBadEntry: OnBadEntry = (list, entry, reason) => {
    isComplete = false
    context.onBadEntry(list, entry, reason)
  }
  const native = nativeOrReason(item, context.chain, onBadEntry)
  if (typeof native === 'string') return native
  const lists = item as Fields
  const listed = recordsOf(lists, 'erc20', onBadEntry)
  const tokens = dialect.mayListSelfTransfersTwice ? uniqueSelfTransfers(listed) : listed
  const listedNfts = recordsOf(lists, 'erc721', onBadEntry)
  const nfts = dialect.mayListSelfTransfersTwice ? uniqueSelfTransfers(listedNfts) : listedNfts
  const listedBatches = recordsOf(lists, 'erc1155', onBadEntry)
  const ownBatches = dialect.mayListSelfTransfersTwice ? uniqueSelfTransfers(listedBatches) : listedBatches
  const batches = tokens.some(isBatch) ? [...tokens.filter(isBatch), ...ownBatches] : ownBatches
  const erc20 = withoutListedNfts(tokens, nfts)
  const internal = uniqueInternals(recordsOf(lists, 'internal', onBadEntry))
  return {
    native,
    erc20: readAll('erc20', erc20, readErc20, onBadEntry),
    erc721: readAll('erc721', nfts, readErc721, onBadEntry),
    erc1155: readAll('erc1155', batches, readErc1155, onBadEntry).flat(),
    internal: readAll('internal', internal, readInternal, onBadEntry),
    isComplete,
  }
}

const NONE: readonly never[] = []

/** The records of a listing. A value that is not a list is rejected with the item. */
function recordsOf(item: Fields, list: ListingName, onBadEntry: OnBadEntry): readonly unknown[] {
  try {
    return listAt(item, list)
  } catch (error) {
    if (!(error instanceof RejectError)) throw error
    onBadEntry(list, item, error.message)
    return NONE
  }
}

function readAll<T>(
  list: ListingName,
  records: readonly unknown[],
  read: (record: Fields, occurrences: Occurrences) => T,
  onBadEntry: OnBadEntry,
): readonly T[] {
  if (records.length === 0) return NONE
  const occurrences: Occurrences = new Map()
  const rows: T[] = []
  for (const record of records)
    try {
      if (!isObject(record)) throw new RejectError('it is not an object')
      rows.push(read(record, occurrences))
    } catch (error) {
      if (!(error instanceof RejectError)) throw error
      onBadEntry(list, record, error.message)
    }
  return rows
}

const isBatch = (record: unknown) => isObject(record) && isErc1155(record)

/**
 * Leaves out records of `tokentx` that belong to other listings: batches, and those that the listing of ERC-721 transfers
 * has too, each of whose records stands for one.
 */
function withoutListedNfts(tokens: readonly unknown[], nfts: readonly unknown[]): readonly unknown[] {
  const isOther = (record: unknown) => isObject(record) && (isErc1155(record) || isErc721(record))
  if (!tokens.some(isOther)) return tokens
  const listed = nfts.filter(isObject).map(nftOf)
  return tokens.filter((record) => {
    if (isBatch(record)) return false
    const at = isObject(record) && isErc721(record) ? listed.indexOf(nftOf(record)) : -1
    if (at >= 0) listed.splice(at, 1)
    return at < 0
  })
}

/** What identifies a transfer of an NFT in a transaction: its log, or its content if the log index is not stated. */
function nftOf(record: Fields): string {
  const { logIndex, contractAddress, tokenID, from, to } = record
  return jsonText(isAbsent(record, 'logIndex') ? [contractAddress, tokenID, from, to] : [logIndex])
}

/** Drops internal transactions that are listed twice: equal records at the same position in the trace. */
function uniqueInternals(records: readonly unknown[]): readonly unknown[] {
  if (records.length < 2) return records
  const seen = new Set<string>()
  return records.filter((record) => {
    if (!isObject(record) || (record.traceId === undefined && record.index === undefined)) return true
    const text = onChainFieldsOf(record)
    return !seen.has(text) && seen.add(text)
  })
}

/**
 * Etherscan has listed transfers from a wallet to itself twice, once for each party. An even number of equal records
 * without a log index counts as half as many. Balances do not depend on it.
 */
function uniqueSelfTransfers(records: readonly unknown[]): readonly unknown[] {
  if (records.length < 2) return records
  const counts = new Map<string, number>()
  for (const record of records)
    if (isSelfTransfer(record)) {
      const text = onChainFieldsOf(record)
      counts.set(text, (counts.get(text) ?? 0) + 1)
    }
  if (counts.size === 0) return records
  const seen = new Map<string, number>()
  return records.filter((record) => {
    const text = onChainFieldsOf(record)
    const [count, at] = [counts.get(text) ?? 1, (seen.get(text) ?? 0) + 1]
    seen.set(text, at)
    return count % 2 === 1 || at <= count / 2
  })
}

const isSelfTransfer = (record: unknown): boolean =>
  isObject(record) &&
  isAbsent(record, 'logIndex') &&
  !isAbsent(record, 'from') &&
  lowerAt(record, 'from') === lowerAt(record, 'to')

/** An invalid record of the transaction itself counts as unknown if there are other records. */
function nativeOrReason(item: unknown, chain: string, onBadEntry: OnBadEntry): Native | string {
  const key = keyOf(item)
  if (typeof key === 'string') return key
  const keyed = item as Item
  try {
    return readNative(keyed, key, chain)
  } catch (error) {
    if (!(error instanceof RejectError)) throw error
    const others = { ...keyed, normal: null }
    if (positionRecordOf(others) === undefined) return error.message
    onBadEntry('normal', keyed.normal, error.message)
    return readNative(others, key, chain)
  }
}

/**
 * Reads the transaction of an item. Without a record of its own, it is known in part: its transfers state its block and
 * gas, its internal transactions only its block number. Explorers state no `block_min_delay_excess` and no names.
 *
 * @throws RejectError if the sender or the value of a record is missing or invalid
 */
function readNative(item: Item, key: ItemKey, chain: string): Native {
  const { normal } = item
  const record = positionRecordOf(item) ?? {}
  const price = u256At(record, 'gasPrice')
  const used = int64At(record, 'gasUsed')
  const type = int32At(record, 'type')
  const extra = extraFeeOf(record, type, chain)
  const fee = feeOf(used, price, extra ?? '0')
  const success = normal === null ? null : succeededAt(normal)
  return {
    prefix: {
      chain_id: evmIdOf(chain) ?? chain,
      block_number: key.block,
      block_hash: lowerAt(record, 'blockHash'),
      block_timestamp: key.timeMs,
      transaction_hash: key.hash,
      transaction_index: key.index === UNKNOWN_INDEX ? null : key.index,
    },
    row: {
      transaction_type: type,
      status: normal === null ? null : statusOf(normal, success),
      success,
      nonce: int64At(record, 'nonce'),
      from_address: normal === null ? null : requiredLower(normal, 'from'),
      from_name: null,
      to_address: normal === null ? null : (lowerAt(normal, 'to') ?? lowerAt(normal, 'contractAddress')),
      to_name: null,
      value: normal === null ? null : requiredU256(normal, 'value'),
      gas_limit: int64At(record, 'gas'),
      gas_used: used,
      gas_price: price,
      effective_gas_price: price,
      transaction_fee: fee,
      call_type: null,
      // A creation calls no method: what explorers show as its selector is the beginning of the code.
      method_id: normal !== null && isAbsent(normal, 'to') ? null : methodIdAt(record),
      method_name: textAt(record, 'functionName'),
      block_min_delay_excess: null,
      extra_fee: fee === null ? null : extra,
    },
    isPartial: normal === null,
  }
}

/**
 * The selector. Blockscout states `0x` for calls of some chains, and older instances state nothing: the input begins with it.
 */
function methodIdAt(record: Fields): string | null {
  const stated = lowerAt(record, 'methodId') ?? '0x'
  if (stated !== '0x') return stated.startsWith('0x') ? stated : `0x${stated}`
  return SELECTOR.exec(lowerAt(record, 'input') ?? '')?.[0] ?? null
}

const SELECTOR = /^0x[\da-f]{8}/

const statusOf = (normal: Fields, success: boolean | null): string | null =>
  textAt(normal, 'txreceipt_status') ?? (success === null ? null : success ? '1' : '0')

/** Before Byzantium, a receipt had no status, but explorers know whether the transaction failed. */
function succeededAt(normal: Fields): boolean | null {
  const status = boolAt(normal, 'txreceipt_status')
  if (status !== undefined) return status
  const isError = boolAt(normal, 'isError')
  return isError === undefined ? null : !isError
}

/**
 * The part of the fee beyond gas: what rollups of the OP Stack charge for publishing on L1. Null if the transaction may pay
 * such a part, and the record does not state it; no explorer states the fee for blobs.
 */
function extraFeeOf(record: Fields, type: number | null, chain: string): string | null {
  return type === BLOB_TYPE ? null : (u256At(record, 'L1FeesPaid') ?? (paysGasOnly(chain) ? '0' : null))
}

/** Reads a record of `txlistinternal`. The receiver of a creation is the created contract. */
function readInternal(record: Fields): Internal {
  const from = lowerAt(record, 'from')
  const to = lowerAt(record, 'to') ?? lowerAt(record, 'contractAddress')
  const failed = boolAt(record, 'isError')
  const value = requiredU256(record, 'value')
  return {
    row: {
      internal_type: typeOf(record),
      from_address: from,
      from_name: null,
      to_address: to,
      to_name: null,
      value,
      reverted: failed ?? false,
      gas_used: int64At(record, 'gasUsed'),
      gas_limit: int64At(record, 'gas'),
    },
    isOutcomeKnown: failed !== undefined || isAbsent(record, 'isError'),
    content: JSON.stringify([from, to, value]),
  }
}

/**
 * The type in the spelling of the data API, which the ledger understands. `callType` tells calls that move coins from
 * delegate calls, which show the value that they inherit.
 */
function typeOf(record: Fields): string | null {
  const type = textAt(record, 'type')?.toUpperCase() ?? null
  if (type === 'CALL') return textAt(record, 'callType')?.toUpperCase() ?? type
  return type === 'SUICIDE' ? 'SELFDESTRUCT' : type
}
