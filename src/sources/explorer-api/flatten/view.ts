import { type Fields, listAt, RejectError } from '../../fields.ts'
import type { OnBadEntry, ViewContext } from '../../source.ts'
import type { Native, View } from '../../view.ts'
import { type Item, keyOf, type ListingName } from '../item.ts'
import { readInternal } from './internal.ts'
import { readNative } from './native.ts'
import { erc20Reader, erc721Reader, erc1155Reader, isErc721, isErc1155 } from './transfers.ts'

/**
 * Reads an item, or returns the reason why the transaction itself is invalid. Invalid records are passed to
 * `onBadEntry`; the rest is used.
 */
export function readView(item: unknown, context: ViewContext): View | string {
  const native = nativeOrReason(item, context.chain)
  if (typeof native === 'string') return native
  let isComplete = true
  const onBadEntry: OnBadEntry = (list, entry, reason) => {
    isComplete = false
    context.onBadEntry(list, entry, reason)
  }
  const read = <T>(list: ListingName, records: readonly unknown[], readRecord: (record: Fields) => T): T[] =>
    readAll(records, { readRecord, onBad: (record, reason) => onBadEntry(list, record, reason) })
  const recordsOf = (list: ListingName) => read(list, [item], (fields) => listAt(fields, list)).flat()
  const tokens = recordsOf('erc20')
  const isBatch = (record: unknown) => isRecord(record) && isErc1155(record)
  const erc20 = tokens.filter((record) => !isRecord(record) || !(isErc1155(record) || isErc721(record)))
  const batches = [...tokens.filter(isBatch), ...recordsOf('erc1155')]
  return {
    native,
    erc20: read('erc20', erc20, erc20Reader()),
    erc721: read('erc721', recordsOf('erc721'), erc721Reader()),
    erc1155: read('erc1155', batches, erc1155Reader()).flat(),
    internal: read('internal', recordsOf('internal'), readInternal),
    isComplete,
  }
}

function nativeOrReason(item: unknown, chain: string): Native | string {
  const key = keyOf(item)
  if (typeof key === 'string') return key
  try {
    return readNative(item as Item, key, chain)
  } catch (thrown) {
    if (thrown instanceof RejectError) return thrown.message
    throw thrown
  }
}

type RecordReader<T> = {
  readRecord: (record: Fields) => T
  onBad: (record: unknown, reason: string) => void
}

function readAll<T>(records: readonly unknown[], { readRecord, onBad }: RecordReader<T>): T[] {
  const rows: T[] = []
  for (const record of records)
    try {
      if (!isRecord(record)) throw new RejectError('it is not an object')
      rows.push(readRecord(record))
    } catch (thrown) {
      if (!(thrown instanceof RejectError)) throw thrown
      onBad(record, thrown.message)
    }
  return rows
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
