import type { ItemKey } from '../../../../src/core/model/item-key.ts'
import { toBytes } from '../../../../src/core/platform/byte-text.ts'
import { keyOfItem } from '../../../../src/sources/data-api/parse-item-key.ts'

/** The part of a wallet listing that paging reads. */
type Listing = {
  items: number
  keys: Pick<ItemKey, 'block' | 'hash' | 'second' | 'lastMs'>[]
  next: string | undefined
}

/** Reads a listing's text with JSON.parse, as the oracle for `readPage`. */
export function parsedListing(text: string): Listing {
  const { transactions, nextPageToken } = JSON.parse(text) as {
    transactions: unknown[]
    nextPageToken?: string | null
  }
  const keys = transactions.flatMap((item) => {
    const key = keyOfItem(item)
    if (typeof key === 'string') return []
    const { txHash } = (item as { nativeTransaction: { txHash: string } }).nativeTransaction
    return [{ ...key, hash: toBytes(txHash.toLowerCase()) }]
  })
  return {
    items: transactions.length,
    keys: keys.map(({ block, hash, second, lastMs }) => ({ block, hash, second, lastMs })),
    next: nextPageToken?.toWellFormed() || undefined,
  }
}
