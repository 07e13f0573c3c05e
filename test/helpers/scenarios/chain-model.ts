// Deliberately independent of src: a random chain and the view of it that the service gives each wallet.
import type { SeededRandom } from '../seeded-random.ts'
import type { Block, ChainModel, Party, PlacedTransaction, TransactionContent } from './chain-types.ts'
import { addressOf, newHash, newTransaction } from './random-transaction.ts'

/** An empty chain. Several of its blocks can share a second. */
export function newChain({ random, wallets }: { random: SeededRandom; wallets: number }): ChainModel {
  const all = Array.from({ length: wallets }, (_, at) => addressOf(`wallet ${at}`))
  return { blocks: [], wallets: all, random, givesMs: random.next() < 0.5, hashCount: 0 }
}

/** Appends blocks. With `inFuture`, their timestamps are later than the start of any run. */
export function growChain(
  chainModel: ChainModel,
  { blocks, runIndex, inFuture = false }: { blocks: number; runIndex: number; inFuture?: boolean },
): void {
  for (let count = 0; count < blocks; count += 1) {
    const last = chainModel.blocks.at(-1)
    const number = (last?.number ?? 0) + 1
    const timeMs = Math.max(inFuture ? FUTURE_MS : 0, timeAfter(chainModel, last))
    const block = { number, hash: newHash(chainModel), timeMs, transactions: [] }
    chainModel.blocks.push(block)
    fillBlock(chainModel, block, runIndex)
  }
}

/** Timestamps from the year 2100 on mark blocks that were produced while a run was in progress. */
const FUTURE_MS = Date.UTC(2100, 0)

export const isFuture = ({ timeMs }: Block) => timeMs >= FUTURE_MS

const timeAfter = ({ random }: ChainModel, last: Block | undefined) =>
  (last?.timeMs ?? 1_700_000_000_000) + random.pick([0, 150, 400, 900, 2_000, 90_000_000])

/** Moves the timestamps of such blocks into the past, before the next run. */
export function ageBlocks(chainModel: ChainModel): void {
  for (const [at, block] of chainModel.blocks.entries())
    if (isFuture(block)) block.timeMs = timeAfter(chainModel, chainModel.blocks[at - 1])
}

function fillBlock(chainModel: ChainModel, block: Block, runIndex: number): void {
  const count = chainModel.random.pick([0, 0, 1, 1, 2, 3])
  for (let added = 0; added < count; added += 1) block.transactions.push(newTransaction(chainModel, runIndex))
}

/**
 * Replaces the blocks from `from` on: they get new hashes. Some of their transactions stay, some move to another replaced block,
 * some disappear, and new ones are added.
 */
export function reorg(chainModel: ChainModel, from: number, runIndex: number): void {
  const { random } = chainModel
  const replaced = chainModel.blocks.filter(({ number }) => number >= from)
  const displaced: TransactionContent[] = []
  for (const block of replaced) {
    block.hash = newHash(chainModel)
    const retained = block.transactions.filter(() => random.next() < 0.5)
    displaced.push(
      ...block.transactions.filter((content) => !retained.includes(content) && random.next() < 0.6),
    )
    block.transactions = retained
  }
  for (const content of displaced) random.pick(replaced).transactions.push(content)
  for (const block of replaced) if (random.next() < 0.3) fillBlock(chainModel, block, runIndex)
}

/** Moves a transaction to a block from `end` on, and adds such blocks if there are none. */
export function moveTransactionPast(
  chainModel: ChainModel,
  { content }: PlacedTransaction,
  end: number,
): void {
  for (const block of chainModel.blocks)
    block.transactions = block.transactions.filter((other) => other !== content)
  const last = chainModel.blocks.at(-1)
  if (last === undefined || last.number < end)
    growChain(chainModel, { blocks: 1 + end - (last?.number ?? 0), runIndex: 0 })
  chainModel.random.pick(chainModel.blocks.filter(({ number }) => number >= end)).transactions.push(content)
}

/** Hides some transactions of the blocks from `from` on until the run `since`. */
export function delayIndexing(chainModel: ChainModel, from: number, since: number): void {
  for (const { number, transactions } of chainModel.blocks)
    for (const content of transactions)
      if (number >= from && chainModel.random.next() < 0.4) content.since = since
}

/** The transactions that the service lists during a run, in chain order. */
export function listedTransactions(chainModel: ChainModel, runIndex: number): PlacedTransaction[] {
  return chainModel.blocks.flatMap((block) =>
    block.transactions
      .map((content, index) => ({ block, index, content }))
      .filter(({ content }) => content.since <= runIndex),
  )
}

/** A wallet's view of a transaction; undefined if the wallet is not a party to it. */
export function viewOf(content: TransactionContent, wallet: string): TransactionContent | undefined {
  const involves = ({ from, to }: { from: Party; to: Party }) =>
    from.address === wallet || to.address === wallet
  const view = {
    ...content,
    erc20: content.erc20.filter(involves),
    erc721: content.erc721.filter(involves),
    erc1155: content.erc1155.filter(involves),
    internal: content.internal.filter(involves),
  }
  const entries = [view.erc20, view.erc721, view.erc1155, view.internal]
  return involves(content) || entries.some((list) => list.length > 0) ? view : undefined
}
