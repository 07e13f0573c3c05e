import type { Block, ChainItems } from './chain.ts'
import { type JsonObject, objectOf } from './json.ts'

/** Derives the blocks of a chain from its transactions, for a chain without a list of blocks. */
export function collectBlocks({ items, blockNumbers }: ChainItems): Block[] {
  const blocks: (Block & { transactions: JsonObject[] })[] = []
  for (const [position, item] of items.entries()) {
    const transaction = objectOf(item.nativeTransaction)
    const number = blockNumbers[position] as number
    const last = blocks.at(-1)
    if (last?.number === number) last.transactions.push(transaction)
    else blocks.push({ number, hash: String(transaction.blockHash), transactions: [transaction] })
  }
  return blocks
}

/** Indexes blocks by number and by hash in lower case. */
export function indexBlocks(blocks: readonly Block[]): Map<number | string, Block> {
  return new Map(
    blocks.flatMap((block): [number | string, Block][] => [
      [block.number, block],
      [block.hash.toLowerCase(), block],
    ]),
  )
}
