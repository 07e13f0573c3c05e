import { createHash } from 'node:crypto'
import type { GeneratedBlock, SortedItem } from '../../../helpers/same-second-listing.ts'

/** A minimal item for paging, with a position and a time. */
export function itemAt(
  block: number,
  { index = 0, second = block }: { index?: number; second?: number } = {},
) {
  return {
    nativeTransaction: {
      blockNumber: String(block),
      blockIndex: index,
      txHash: hashAt(block, index),
      blockTimestamp: second,
    },
  }
}

/** A hash unrelated to the order of items. */
const hashAt = (block: number, index = 0) =>
  `0x${createHash('sha256').update(`${block}-${index}`).digest('hex')}`

/** Creates the body of a page. */
export function bodyOf(transactions: readonly unknown[], nextPageToken?: unknown): Buffer {
  return Buffer.from(JSON.stringify({ nextPageToken, transactions }))
}

/** The hashes in the body of a page. */
export function hashesIn(body: Buffer): string[] {
  const { transactions } = JSON.parse(body.toString()) as { transactions: ReturnType<typeof itemAt>[] }
  return transactions.map(({ nativeTransaction }) => nativeTransaction.txHash)
}

/** Creates the items of blocks, as many as each block specifies. */
export function tiedItems(blocks: readonly GeneratedBlock[]): SortedItem<object>[] {
  return blocks.flatMap(({ block, second, items }) =>
    Array.from({ length: items }, (_, index) => {
      const item = itemAt(block, { index, second })
      return { block, second, hash: item.nativeTransaction.txHash, item }
    }),
  )
}
