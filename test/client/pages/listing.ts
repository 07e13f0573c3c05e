/** An item with a place and a time, as little of it as paging reads. */
export function itemAt(
  block: number,
  { index = 0, second = block }: { index?: number; second?: number } = {},
) {
  return {
    nativeTransaction: {
      blockNumber: String(block),
      blockIndex: index,
      txHash: `0x${block}-${index}`,
      blockTimestamp: second,
    },
  }
}

/** A page's body. */
export function bodyOf(transactions: readonly unknown[], nextPageToken?: unknown): Buffer {
  return Buffer.from(JSON.stringify({ nextPageToken, transactions }))
}
