import { jsonText } from '../../../core/platform/json-text.ts'
import { type Fields, isAbsent, isObject, listAt, lowerAt, RejectError } from '../../fields.ts'
import type { OnBadEntry, ViewContext } from '../../source.ts'
import type { Native, View } from '../../view.ts'
import type { Dialect } from '../dialect.ts'
import { type Item, keyOf, type ListingName, onChainFieldsOf, positionRecordOf } from '../item.ts'
import { readInternal } from './internal.ts'
import { readNative } from './native.ts'
import { erc20Reader, erc721Reader, erc1155Reader, isErc721, isErc1155 } from './transfers.ts'

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
  const native = nativeOrReason(item, { chain: context.chain, onBadEntry })
  if (typeof native === 'string') return native
  const read = <T>(list: ListingName, records: readonly unknown[], readRecord: (record: Fields) => T): T[] =>
    readAll(records, { readRecord, onBad: (record, reason) => onBadEntry(list, record, reason) })
  const recordsOf = (list: ListingName) => read(list, [item], (fields) => listAt(fields, list)).flat()
  const transfersOf = (list: ListingName) =>
    dialect.mayListSelfTransfersTwice ? uniqueSelfTransfers(recordsOf(list)) : recordsOf(list)
  const [tokens, nfts] = [transfersOf('erc20'), transfersOf('erc721')]
  const batches = [...tokens.filter(isBatch), ...transfersOf('erc1155')]
  const erc20 = withoutListedNfts(
    tokens.filter((record) => !isBatch(record)),
    nfts,
  )
  return {
    native,
    erc20: read('erc20', erc20, erc20Reader()),
    erc721: read('erc721', nfts, erc721Reader()),
    erc1155: read('erc1155', batches, erc1155Reader()).flat(),
    internal: read('internal', uniqueInternals(recordsOf('internal')), readInternal),
    isComplete,
  }
}

const isBatch = (record: unknown) => isObject(record) && isErc1155(record)

/** Leaves out records of `tokentx` that the listing of ERC-721 transfers has too: each of its records stands for one. */
function withoutListedNfts(tokens: readonly unknown[], nfts: readonly unknown[]): readonly unknown[] {
  const listed = nfts.filter(isObject).map(nftOf)
  return tokens.filter((record) => {
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

/** An invalid record of the transaction itself counts as unknown if there are other records. */
function nativeOrReason(item: unknown, { chain, onBadEntry }: ViewContext): Native | string {
  const key = keyOf(item)
  if (typeof key === 'string') return key
  const known = item as Item
  try {
    return readNative(known, key, chain)
  } catch (thrown) {
    if (!(thrown instanceof RejectError)) throw thrown
    const others = { ...known, normal: null }
    if (positionRecordOf(others) === undefined) return thrown.message
    onBadEntry('normal', known.normal, thrown.message)
    return readNative(others, key, chain)
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
      if (!isObject(record)) throw new RejectError('it is not an object')
      rows.push(readRecord(record))
    } catch (thrown) {
      if (!(thrown instanceof RejectError)) throw thrown
      onBad(record, thrown.message)
    }
  return rows
}

/** Drops internal transactions that are listed twice: equal records at the same position in the trace. */
function uniqueInternals(records: readonly unknown[]): readonly unknown[] {
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
