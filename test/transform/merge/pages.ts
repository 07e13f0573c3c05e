/** A listing item with a valid position. Its hash is in upper case, which APIs may return. */
export const item = (
  block: unknown,
  { index = 0, seconds = 10, ms }: { index?: number; seconds?: number; ms?: number } = {},
) => ({
  nativeTransaction: {
    blockNumber: block,
    blockIndex: index,
    txHash: `0xAB${block}${index}`,
    blockTimestamp: seconds,
    ...(ms === undefined ? {} : { blockTimestampMilliseconds: ms }),
  },
})

export const bodyOf = (transactions: readonly unknown[]) => Buffer.from(JSON.stringify({ transactions }))
