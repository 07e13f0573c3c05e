import { RejectError } from '../../fields.ts'
import type { RangePage } from '../../source.ts'
import { keyOfItem } from '../parse-item-key.ts'
import { readInternal } from '../view.ts'

type Listings = {
  /** Items of the listing of transactions. */
  items: readonly Listed[]
  /** Entries of the listing of internal transactions, of the same blocks. */
  internals: readonly Listed[]
  /** By hash, the transactions that only the second listing names. */
  details: ReadonlyMap<string, JsonObject>
}

/**
 * Adds internal transactions to the items of their transactions, as if the listing of transactions had contained them. Of
 * internal transactions with the same content, the larger count of the two listings is kept. A transaction without an
 * item gets one from its details. Entries without a valid position become items without one, so that they are rejected.
 *
 * @returns undefined if nothing is added
 */
export function uniteInternals({ items, internals, details }: Listings): JsonObject[] | undefined {
  if (internals.length === 0) return undefined
  const byHash = groupByTransaction(internals)
  const united: JsonObject[] = []
  let isChanged = false
  const listed = new Set<string | undefined>()
  for (const { hash, entry } of items) {
    const added = hash === undefined ? undefined : byHash.get(hash)
    const item = added === undefined ? entry : withInternals(entry, added)
    listed.add(hash)
    united.push(item)
    if (item !== entry) isChanged = true
  }
  for (const { hash, entry } of internals)
    if (hash === undefined) united.push({ internalTransactions: [entry] })
  for (const [hash, nativeTransaction] of details) {
    // After a reorg, the block of one of the responses is outdated. The lookback reads it again.
    const current = (byHash.get(hash) ?? []).filter((entry) => isOfBlock(entry, nativeTransaction))
    if (!listed.has(hash) && current.length > 0) united.push(withInternals({ nativeTransaction }, current))
  }
  return isChanged || united.length > items.length ? united : undefined
}

function groupByTransaction(internals: readonly Listed[]): Map<string, JsonObject[]> {
  const byHash = new Map<string, JsonObject[]>()
  for (const { hash, entry } of internals) {
    if (hash === undefined) continue
    const entries = byHash.get(hash)
    if (entries === undefined) byHash.set(hash, [entry])
    else entries.push(entry)
  }
  return byHash
}

/** Adds the entries that an item lacks. Returns the item itself if it lacks none. */
function withInternals(item: JsonObject, entries: readonly JsonObject[]): JsonObject {
  const { internalTransactions, nativeTransaction } = item
  const own: readonly unknown[] = Array.isArray(internalTransactions) ? internalTransactions : []
  const counts = new Map<string, number>()
  for (const entry of own) counts.set(contentOf(entry), (counts.get(contentOf(entry)) ?? 0) + 1)
  const missing = inFixedOrder(entries).filter((entry) => {
    const content = contentOf(entry)
    const count = counts.get(content) ?? 0
    counts.set(content, count - 1)
    return count <= 0 && isOfBlock(entry, nativeTransaction)
  })
  if (missing.length === 0) return item
  return { ...item, internalTransactions: [...own, ...missing.map(withoutPosition)] }
}

/**
 * Sorts entries by the gas that was left for them, which mostly is the order of their execution. The order in the listing
 * cannot be used: it depends on the sort order of the request.
 */
function inFixedOrder(entries: readonly JsonObject[]): readonly JsonObject[] {
  if (entries.length < 2) return entries
  const sorted = entries.map((entry) => {
    const { internalTxType, gasUsed, gasLimit, isReverted } = entry
    const text = JSON.stringify([contentOf(entry), internalTxType, gasUsed, gasLimit, isReverted])
    return { entry, text, gas: Number(gasLimit) || 0 }
  })
  sorted.sort((a, b) => b.gas - a.gas || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return sorted.map(({ entry }) => entry)
}

/** The identity of an internal transaction; for an invalid one, its JSON. */
function contentOf(entry: unknown): string {
  try {
    return readInternal(entry as JsonObject).content
  } catch (error) {
    if (error instanceof RejectError || error instanceof TypeError) return JSON.stringify(entry) ?? ''
    throw error
  }
}

/** The fields of an entry that an internal transaction of the other listing has too. */
function withoutPosition(entry: JsonObject): JsonObject {
  const { blockNumber, blockTimestamp, blockTimestampMilliseconds, blockHash, txHash, ...internal } = entry
  return internal
}

export type JsonObject = Readonly<Record<string, unknown>>

/** An entry of a listing, with its block and transaction; both are undefined for an entry without a valid position. */
export type Listed = { block: number | undefined; hash: string | undefined; entry: JsonObject }

/**
 * Reads the entries of a page's body, which is valid.
 *
 * @param toItem converts an entry to an item of the wallet listing
 */
export function readListed(
  { body }: Pick<RangePage, 'body'>,
  chain: string,
  toItem: (entry: unknown) => unknown = (entry) => entry,
): Listed[] {
  const { transactions } = JSON.parse(body.toString('utf8')) as { transactions: JsonObject[] }
  return transactions.map((entry) => {
    const key = keyOfItem(toItem(entry), chain)
    return typeof key === 'string'
      ? { block: undefined, hash: undefined, entry }
      : { block: key.block, hash: key.hash, entry }
  })
}

/** Whether an internal transaction and a transaction name the same block, as far as both name its hash. */
export function isOfBlock({ blockHash, blockNumber }: JsonObject, native: unknown): boolean {
  const of = native as JsonObject
  const [hash, other] = [blockHash, of.blockHash].map((text) =>
    typeof text === 'string' ? text.toLowerCase() : '',
  )
  return (!hash || !other || hash === other) && String(blockNumber) === String(of.blockNumber)
}
