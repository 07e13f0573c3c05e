import type { Cells } from '../core/table/index.ts'
import type { Fields } from './fields.ts'
import { listAt, objectAt, RejectError } from './fields.ts'
import { type Internal, readInternal } from './internal.ts'
import { type Native, readNative } from './native.ts'
import { erc1155Reader, readErc20, readErc721 } from './transfers.ts'

/** One wallet's view of a transaction, every field checked; or, once united, what all views know together. */
export type View = {
  native: Native
  erc20: readonly Cells<'erc20_transfers'>[]
  erc721: readonly Cells<'erc721_transfers'>[]
  erc1155: readonly Cells<'erc1155_transfers'>[]
  internal: readonly Internal[]
}

/** Called with an entry that cannot be normalized, and why. */
type OnBadEntry = (list: string, entry: unknown, reason: string) => void

export type ViewContext = {
  /** Chain id of a transaction that names none. */
  chain: string
  onBadEntry: OnBadEntry
}

/**
 * Reads an item of the wallet listing (interface section 2.8). An entry of a list that cannot be normalized, or a list that
 * is not one, goes to `onBadEntry` and the rest is kept. Throws RejectError where the transaction itself cannot be.
 */
export function readView(item: Fields, { chain, onBadEntry }: ViewContext): View {
  const native = readNative(objectAt(item, 'nativeTransaction'), chain)
  const read = <T>(list: string, open: () => ReadEntry<T>): T[] => readList(item, { list, open, onBadEntry })
  return {
    native,
    erc20: read('erc20Transfers', openErc20),
    erc721: read('erc721Transfers', openErc721),
    erc1155: read('erc1155Transfers', erc1155Reader),
    internal: read('internalTransactions', openInternal),
  }
}

/** undefined: the entry says nothing new. */
type ReadEntry<T> = (fields: Fields) => T | undefined
/** `open` makes the reader of one view's entries. */
type ListReading<T> = { list: string; open: () => ReadEntry<T>; onBadEntry: OnBadEntry }

const openErc20 = () => oncePerLog(readErc20)
const openErc721 = () => oncePerLog(readErc721)
const openInternal = () => readInternal

function readList<T>(item: Fields, { list, open, onBadEntry }: ListReading<T>): T[] {
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
  const entry = open()
  for (const fields of entries) {
    const made = orReject(fields, () => {
      if (typeof fields !== 'object' || fields === null) throw new RejectError('it is not an object')
      return entry(fields as Fields)
    })
    if (made !== undefined) read.push(made)
  }
  return read
}

const TWICE = 'its logIndex is there twice in one view, with different content'

/** A log is one transfer: an exact repetition says nothing new, a contradiction is a bad entry. */
function oncePerLog<T extends { log_index: number }>(read: (fields: Fields) => T): ReadEntry<T> {
  const byLog = new Map<number, T>()
  return (fields) => {
    const entry = read(fields)
    const first = byLog.get(entry.log_index)
    if (first !== undefined && JSON.stringify(first) !== JSON.stringify(entry)) throw new RejectError(TWICE)
    byLog.set(entry.log_index, entry)
    return first === undefined ? entry : undefined
  }
}
