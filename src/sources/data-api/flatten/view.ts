import { isOfChain } from '../../../core/model/chains.ts'
import { toValue } from '../../../core/platform/byte-text.ts'
import { writeJson } from '../../../core/platform/json-text.ts'
import type { Cells } from '../../../core/table/index.ts'
import type { Fields } from '../../fields.ts'
import { listAt, objectAt, optionalObjectAt, RejectError } from '../../fields.ts'
import type { OnBadEntry, ViewContext } from '../../source.ts'
import { type Native, onChainLogFields, type View } from '../../view.ts'
import { wrongChainReason } from '../parse-item-key.ts'
import { readInternal } from './internal.ts'
import { readNative } from './native.ts'
import { erc1155Reader, readErc20, readErc721 } from './transfers.ts'

/**
 * Reads an item of the wallet listing (interface section 2.8), or returns the reason why the transaction itself
 * is invalid. Invalid entries of a list, and values that should be a list, are passed to `onBadEntry`; the rest
 * is used.
 */
export function readView(item: unknown, context: ViewContext): View | string {
  const fields = item as Fields
  const { chain } = context
  const native = nativeOrReason(fields, chain)
  if (typeof native === 'string') return native
  let isComplete = true
  const onBadEntry: OnBadEntry = (list, entry, reason) => {
    isComplete = false
    context.onBadEntry(list, entry, reason)
  }
  const read = <T>(list: ListName, open: () => ReadEntry<T>): T[] =>
    readList(fields, { list, open, chain, onBadEntry })
  const erc20 = read('erc20Transfers', openErc20)
  const erc721 = read('erc721Transfers', openErc721)
  const erc1155 = read('erc1155Transfers', erc1155Reader)
  const internal = read('internalTransactions', openInternal)
  return { native, erc20, erc721, erc1155, internal, isComplete }
}

function nativeOrReason(item: Fields, chain: string): Native | string {
  try {
    return readNative(objectAt(item, 'nativeTransaction'), chain)
  } catch (thrown) {
    if (thrown instanceof RejectError) return thrown.message
    throw thrown
  }
}

/** Undefined for a duplicate entry. */
type ReadEntry<T> = (fields: Fields) => T | undefined
/** `open` creates the reader of one view's entries. */
type ListReader<T> = { list: ListName; open: () => ReadEntry<T> } & ViewContext

const openErc20 = () => oncePerLog(readErc20)
const openErc721 = () => oncePerLog(readErc721)
const openInternal = () => readInternal

function readList<T>(item: Fields, { list, open, chain, onBadEntry }: ListReader<T>): T[] {
  const read: T[] = []
  const orReject = <R>(record: unknown, make: () => R): R | undefined => {
    try {
      return make()
    } catch (thrown) {
      if (!(thrown instanceof RejectError)) throw thrown
      onBadEntry(list, record, thrown.message)
      return undefined
    }
  }
  const entries = orReject(item[list], () => listAt(item, list)) ?? []
  if (entries.length === 0) return read
  const readEntry = open()
  for (const fields of entries) {
    const row = orReject(fields, () => {
      if (typeof fields !== 'object' || fields === null) throw new RejectError('it is not an object')
      requireChain(fields as Fields, list, chain)
      return readEntry(fields as Fields)
    })
    if (row !== undefined) read.push(row)
  }
  return read
}

/** Rejects an entry if it, or its token, names another chain. */
function requireChain(entry: Fields, list: ListName, chain: string): void {
  const token = TOKEN_FIELDS[list]
  for (const { chainId } of token === undefined ? [entry] : [entry, optionalObjectAt(entry, token)])
    if (!isOfChain(chainId, chain)) throw new RejectError(wrongChainReason(toValue(chainId), chain))
}

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
