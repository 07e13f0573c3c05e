import type { ChainState } from './balances/chain-state.ts'
import type { JsonObject } from './json.ts'

/** A chain that the listings read up to its head. The whole chain is loaded at the first use. */
export type Chain = {
  readonly id: string
  /** Last block that may be served. */
  head(): number
  items(): Promise<ChainItems>
  /** Returns the block with this number, or with this hash in lower case. */
  block(id: number | string): Promise<Block | undefined>
  /** Number of the last existing block, which may be after the head; -1 if there are no blocks. */
  last(): Promise<number>
  /** Recorded balances; undefined if there are none. */
  state(): Promise<ChainState | undefined>
  /** Recorded atomic transactions in chain order; empty if there are none. */
  atomic(): Promise<readonly JsonObject[]>
  /** Base fee of a block with transactions; undefined if it is unknown. */
  baseFee(block: number): Promise<bigint | undefined>
}

/** Every transaction with all its lists, unfiltered, in chain order. A position is an index into `items`. */
export type ChainItems = {
  readonly items: readonly JsonObject[]
  /** Block number of each item, in ascending order. */
  readonly blockNumbers: readonly number[]
  /** Positions, ascending, of the items that involve an address (lower case). */
  positionsOf(address: string): readonly number[]
  /** Position of the transaction with this hash (lower case). */
  positionOf(hash: string): number | undefined
  /** Omit empty lists from items of blocks with an odd number, because a service may omit them. */
  readonly dropsEmptyInOddBlocks: boolean
}

export type Block = {
  readonly number: number
  readonly hash: string
  /** Native transactions (interface 2.2), in block order. */
  readonly transactions: readonly JsonObject[]
}
