import { evmIdOf, isOfChain, paysGasOnly } from '../../core/model/chains.ts'
import { BLOB_TYPE, feeOf } from '../../core/model/fees.ts'
import { toValue } from '../../core/platform/byte-text.ts'
import { writeJson } from '../../core/platform/json-text.ts'
import type { Cells } from '../../core/table/index.ts'
import {
  boolAt,
  type Fields,
  int32At,
  int64At,
  isAbsent,
  listAt,
  lowerAt,
  objectAt,
  optionalObjectAt,
  RejectError,
  requiredLower,
  requiredU256,
  textAt,
  u256At,
} from '../fields.ts'
import type { OnBadEntry, ViewContext } from '../source.ts'
import { type Internal, type Native, onChainLogFields, type View } from '../view.ts'
import { keyOfNative, wrongChainReason } from './parse-item-key.ts'
import { erc1155Reader, partyAt, readErc20, readErc721 } from './transfers.ts'

/**
 * Reads an item of the wallet listing (interface section 2.8), or returns the reason why the transaction itself
 * is invalid. Invalid entries of a list, and values that should be a list, are passed to `onBadEntry`; the rest
 * is used.
 */
export function readView(item: unknown, context: ViewContext): View | string {
  const fields = item as Fields
  const native = nativeOrReason(fields, context.chain)
  if (typeof native === 'string') return native
  let isComplete = true
  const onBadEntry: OnBadEntry = (list, entry, reason) => {
    isComplete = false
    context.onBadEntry(list, entry, reason)
  }
  const lists = { chain: context.chain, onBadEntry }
  const erc20 = readList(fields, 'erc20Transfers', openErc20, lists)
  const erc721 = readList(fields, 'erc721Transfers', openErc721, lists)
  const erc1155 = readList(fields, 'erc1155Transfers', erc1155Reader, lists)
  const internal = readList(fields, 'internalTransactions', openInternal, lists)
  return { native, erc20, erc721, erc1155, internal, isComplete }
}

function nativeOrReason(item: Fields, chain: string): Native | string {
  try {
    return readNative(objectAt(item, 'nativeTransaction'), chain)
  } catch (error) {
    if (error instanceof RejectError) return error.message
    throw error
  }
}

/** Undefined for a duplicate entry. */
type ReadEntry<T> = (fields: Fields) => T | undefined

const openErc20 = () => oncePerLog(readErc20)
const openErc721 = () => oncePerLog(readErc721)
const openInternal = () => readInternal

const NONE: readonly never[] = []

/** @param open creates the reader of one view's entries */
function readList<T>(
  item: Fields,
  list: ListName,
  open: () => ReadEntry<T>,
  { chain, onBadEntry }: ViewContext,
): readonly T[] {
  const entries = listOrReject(item, list, onBadEntry)
  if (entries.length === 0) return NONE
  const read = open()
  const rows: T[] = []
  for (const entry of entries)
    try {
      if (typeof entry !== 'object' || entry === null) throw new RejectError('it is not an object')
      requireChain(entry as Fields, list, chain)
      const row = read(entry as Fields)
      if (row !== undefined) rows.push(row)
    } catch (error) {
      if (!(error instanceof RejectError)) throw error
      onBadEntry(list, entry, error.message)
    }
  return rows
}

function listOrReject(item: Fields, list: ListName, onBadEntry: OnBadEntry): readonly unknown[] {
  try {
    return listAt(item, list)
  } catch (error) {
    if (!(error instanceof RejectError)) throw error
    onBadEntry(list, item[list], error.message)
    return NONE
  }
}

/** Rejects an entry if it, or its token, names another chain. */
function requireChain(entry: Fields, list: ListName, chain: string): void {
  const token = TOKEN_FIELDS[list]
  if (!isOfChain(entry.chainId, chain)) throw wrongChain(entry, chain)
  if (token === undefined) return
  const { chainId } = optionalObjectAt(entry, token)
  if (!isOfChain(chainId, chain)) throw wrongChain({ chainId }, chain)
}

const wrongChain = ({ chainId }: Fields, chain: string) =>
  new RejectError(wrongChainReason(toValue(chainId), chain))

/** The lists of an item, with the field of their entries that contains the token. */
const TOKEN_FIELDS = {
  erc20Transfers: 'erc20Token',
  erc721Transfers: 'erc721Token',
  erc1155Transfers: 'erc1155Token',
  internalTransactions: undefined,
} as const
type ListName = keyof typeof TOKEN_FIELDS

const DUPLICATE_LOG = 'its logIndex occurs twice in one view, with different content'

type Logged = Cells<'erc20_transfers'> | Cells<'erc721_transfers'>

/** A log is one transfer: a duplicate with the same content is dropped, one with other content is rejected. */
function oncePerLog<T extends Logged>(read: (fields: Fields) => T): ReadEntry<T> {
  const byLog = new Map<string, T>()
  return (fields) => {
    const entry = read(fields)
    const first = byLog.get(entry.transfer_id)
    if (first !== undefined && onChainLogFields(first) !== onChainLogFields(entry))
      throw new RejectError(DUPLICATE_LOG)
    if (first === undefined) byLog.set(entry.transfer_id, entry)
    return first === undefined ? entry : undefined
  }
}

/**
 * Reads a native transaction (interface section 2.2). Other invalid fields become null (CONTRACT section 2.3).
 *
 * @param chain the requested chain. Rows contain its EVM id, however the item spells it; if it is unknown,
 *   the item's id
 * @throws RejectError if the position in the chain, a party or the value is missing or invalid
 */
function readNative(native: Fields, chain: string): Native {
  const key = keyOfNative(native, chain)
  if (typeof key === 'string') throw new RejectError(key)
  const method = optionalObjectAt(native, 'method')
  const status = textAt(native, 'txStatus')
  const gasUsed = int64At(native, 'gasUsed')
  const gasPrice = u256At(native, 'gasPrice')
  const prefix = {
    chain_id: evmIdOf(chain) ?? evmIdOf(native.chainId) ?? textAt(native, 'chainId') ?? chain,
    block_number: key.block,
    block_hash: requiredLower(native, 'blockHash'),
    block_timestamp: key.timeMs,
    transaction_hash: key.hash,
    transaction_index: key.index,
  }
  const type = int32At(native, 'txType')
  const nonce = int64At(native, 'nonce')
  const from = partyAt(native, 'from')
  const to = partyAt(native, 'to')
  const fee = feeOf(gasUsed, gasPrice)
  const row: Cells<'transactions'> = {
    transaction_type: type,
    status,
    success: successOf(status),
    nonce,
    from_address: from.address,
    from_name: from.name,
    to_address: to.address,
    to_name: to.name,
    value: requiredU256(native, 'value'),
    gas_limit: int64At(native, 'gasLimit'),
    gas_used: gasUsed,
    gas_price: gasPrice,
    effective_gas_price: type === null || type > 1 ? null : gasPrice,
    transaction_fee: fee,
    call_type: textAt(method, 'callType'),
    method_id: lowerAt(method, 'methodHash'),
    method_name: textAt(method, 'methodName'),
    block_min_delay_excess: int64At(native, 'blockMinDelayExcess'),
    extra_fee: fee !== null && paysNoExtraFee(type, prefix.chain_id) ? '0' : null,
  }
  return { prefix, row }
}

/** The service serves Avalanche chains, whose ids anyone can choose, and Ethereum: there, only blobs cost more than gas. */
const paysNoExtraFee = (type: number | null, chain: string) =>
  type !== BLOB_TYPE && paysGasOnly(chain) !== false

/** Whether a transaction with this status succeeded (CONTRACT section 2.3); null for an unknown status. */
function successOf(status: string | null): boolean | null {
  if (status === '1') return true
  const normalized = status?.toLowerCase() ?? ''
  return SUCCESS.has(normalized) ? true : FAILURE.has(normalized) ? false : null
}

const SUCCESS: ReadonlySet<string> = new Set(['1', '0x1', 'true', 'success'])
const FAILURE: ReadonlySet<string> = new Set(['0', '0x0', 'false', 'failed', 'failure', 'error'])

/** Reads an internal transaction (interface section 2.7). */
export function readInternal(entry: Fields): Internal {
  const type = textAt(entry, 'internalTxType')
  const from = partyAt(entry, 'from')
  const to = partyAt(entry, 'to')
  const reverted = boolAt(entry, 'isReverted')
  const row = {
    internal_type: type,
    from_address: from.address,
    from_name: from.name,
    to_address: to.address,
    to_name: to.name,
    value: requiredU256(entry, 'value'),
    reverted: reverted ?? false,
    gas_used: int64At(entry, 'gasUsed'),
    gas_limit: int64At(entry, 'gasLimit'),
  }
  // Some services omit false values, so a missing flag means that the entry was not reverted.
  const isOutcomeKnown = reverted !== undefined || isAbsent(entry, 'isReverted')
  return { row, isOutcomeKnown, content: JSON.stringify([from.address, to.address, row.value]) }
}

/** Fields that may change over time without a change on the chain. */
const MUTABLE_FIELDS = new Set([
  'name',
  'symbol',
  'decimals',
  'logoUri',
  'price',
  'metadata',
  'tokenUri',
  'ownerAddress',
  'methodName',
])

/** The JSON of an item without its mutable fields. */
export const onChainFieldsOf = (item: unknown): string =>
  writeJson(item, (fields) => Object.keys(fields).filter((name) => !MUTABLE_FIELDS.has(name)))
