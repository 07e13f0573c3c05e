import type { Fields } from './fields.ts'
import { listAt, objectAt, RejectError } from './fields.ts'
import { type Internal, readInternal } from './internal.ts'
import { type Native, readNative } from './native.ts'
import { type Erc20, type Erc721, type Erc1155, erc1155Reader, readErc20, readErc721 } from './transfers.ts'

/** One wallet's view of a transaction, every field checked; or, once united, what all views know together. */
export type View = {
  native: Native
  erc20: Erc20[]
  erc721: Erc721[]
  erc1155: Erc1155[]
  internal: Internal[]
}

/** Called with an entry that cannot be normalized, and why. */
export type OnBadEntry = (list: string, entry: unknown, reason: string) => void

/**
 * Reads an item of the wallet listing (interface section 2.8). An entry of a list that cannot be normalized goes to
 * `onBadEntry` and the rest is kept. Throws RejectError where the transaction itself cannot be.
 */
export function readView(item: Fields, onBadEntry: OnBadEntry): View {
  const native = readNative(objectAt(item, 'nativeTransaction'))
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
  const entries = listAt(item, list)
  const read: T[] = []
  if (entries.length === 0) return read
  const entry = open()
  for (const fields of entries) {
    try {
      if (typeof fields !== 'object' || fields === null) throw new RejectError('it is not an object')
      const made = entry(fields as Fields)
      if (made !== undefined) read.push(made)
    } catch (thrown) {
      if (!(thrown instanceof RejectError)) throw thrown
      onBadEntry(list, fields, thrown.message)
    }
  }
  return read
}

const TWICE = 'its logIndex is there twice in one view, with different content'

/** A log is one transfer: an exact repetition says nothing new, a contradiction is a bad entry. */
function oncePerLog<T extends { logIndex: number }>(read: (fields: Fields) => T): ReadEntry<T> {
  const byLog = new Map<number, T>()
  return (fields) => {
    const entry = read(fields)
    const first = byLog.get(entry.logIndex)
    if (first !== undefined && JSON.stringify(first) !== JSON.stringify(entry)) throw new RejectError(TWICE)
    byLog.set(entry.logIndex, entry)
    return first === undefined ? entry : undefined
  }
}
