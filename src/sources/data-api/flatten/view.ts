import { isOfChain } from '../../../core/model/chains.ts'
import { toValue } from '../../../core/platform/byte-text.ts'
import type { Cells } from '../../../core/table/index.ts'
import { wrongChainReason } from '../parse-item-key.ts'
import type { Fields } from './fields.ts'
import { listAt, objectAt, optionalObjectAt, RejectError } from './fields.ts'
import { type Internal, readInternal } from './internal.ts'
import { logFacts } from './log-facts.ts'
import { type Native, readNative } from './native.ts'
import { erc1155Reader, readErc20, readErc721 } from './transfers.ts'

/** One wallet's view of a transaction, validated; or the union of all views. */
export type View = {
  native: Native
  erc20: readonly Cells<'erc20_transfers'>[]
  erc721: readonly Cells<'erc721_transfers'>[]
  erc1155: readonly Cells<'erc1155_transfers'>[]
  internal: readonly Internal[]
  /** False if entries were rejected: what the view lacks may be one of them. */
  isComplete: boolean
  /** Logs that are in more than one of its ERC lists. */
  repeatedLogs: readonly number[]
}

export type ErcTable = 'erc20' | 'erc721' | 'erc1155'

/** Called with each rejected entry and the reason. */
type OnBadEntry = (list: string, entry: unknown, reason: string) => void

export type ViewContext = {
  /** The requested chain. */
  chain: string
  onBadEntry: OnBadEntry
}

/**
 * Reads an item of the wallet listing (interface section 2.8). Invalid entries of a list, and values that
 * should be a list, are passed to `onBadEntry`; the rest is used. Throws RejectError if the transaction
 * itself is invalid.
 */
export function readView(item: Fields, context: ViewContext): View {
  const native = readNative(objectAt(item, 'nativeTransaction'), context.chain)
  let isComplete = true
  const onBadEntry: OnBadEntry = (list, entry, reason) => {
    isComplete = false
    context.onBadEntry(list, entry, reason)
  }
  const { chain } = context
  const read = <T>(list: ListName, open: () => ReadEntry<T>): T[] =>
    readList(item, { list, open, chain, onBadEntry })
  const logs = dedupeLogs({
    erc20: read('erc20Transfers', openErc20),
    erc721: read('erc721Transfers', openErc721),
    erc1155: read('erc1155Transfers', erc1155Reader),
  })
  const internal = read('internalTransactions', openInternal)
  return { native, ...logs, internal, isComplete }
}

type Logs = Pick<View, ErcTable>

/** A log that is in several lists is assigned to the first of these. */
const PRECEDENCE: readonly ErcTable[] = ['erc721', 'erc1155', 'erc20']

/** Keeps each log in one list only (CONTRACT section 2.4). */
function dedupeLogs(logs: Logs): Logs & Pick<View, 'repeatedLogs'> {
  if (PRECEDENCE.filter((table) => logs[table].length > 0).length < 2) return { ...logs, repeatedLogs: [] }
  const tables = logTables(logs)
  const repeated = new Set<number>()
  const retain = <T extends { log_index: number }>(table: ErcTable, entries: readonly T[]): readonly T[] =>
    entries.filter(({ log_index: log }) => {
      const isInTable = tables.get(log) === table
      if (!isInTable) repeated.add(log)
      return isInTable
    })
  const retained = {
    erc20: retain('erc20', logs.erc20),
    erc721: retain('erc721', logs.erc721),
    erc1155: retain('erc1155', logs.erc1155),
  }
  return { ...retained, repeatedLogs: [...repeated] }
}

/** Maps each log to its table. */
export function logTables(logs: Logs): Map<number, ErcTable> {
  const tables = new Map<number, ErcTable>()
  for (const table of PRECEDENCE)
    for (const { log_index: log } of logs[table]) if (!tables.has(log)) tables.set(log, table)
  return tables
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
  const byLog = new Map<number, T>()
  return (fields) => {
    const entry = read(fields)
    const first = byLog.get(entry.log_index)
    if (first !== undefined && logFacts(first) !== logFacts(entry)) throw new RejectError(DUPLICATE_LOG)
    if (first === undefined) byLog.set(entry.log_index, entry)
    return first === undefined ? entry : undefined
  }
}
