import type { Listing } from '../../../src/client/pages/scan-listing.ts'
import { keyOfItem } from '../../../src/core/item-key.ts'

/** What parsing gives of a listing's text. */
export function parsedListing(text: string): Listing {
  const { transactions, nextPageToken } = JSON.parse(text) as {
    transactions: unknown[]
    nextPageToken?: string | null
  }
  const keys = transactions.map(keyOfItem).filter((key) => typeof key !== 'string')
  return {
    items: transactions.length,
    keys: keys.map(({ block, hash, second, lastMs }) => ({ block, hash, second, lastMs })),
    next: nextPageToken || undefined,
  }
}
