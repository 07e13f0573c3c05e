import type { JsonObject } from './json.ts'

/** A chain as the listings see it, up to the head; all of it is loaded on first use. */
export type Chain = {
  readonly id: string
  /** Last block that may be told of. */
  head(): number
  items(): Promise<ChainItems>
  /** The block with this number, or this hash in lower case. */
  block(id: number | string): Promise<Block | undefined>
  /** Number of the last block that there is, told of or not; -1 where there is none. */
  last(): Promise<number>
}

/** Every transaction with all its lists, unfiltered, in chain order; a transaction's place is its index here. */
export type ChainItems = {
  readonly items: readonly JsonObject[]
  /** Block number of each item; never falls. */
  readonly blockNumbers: readonly number[]
  /** Places, rising, of the items in which an address (lower case) takes part. */
  positionsOf(address: string): readonly number[]
  /** Place of the transaction with this hash (lower case). */
  positionOf(hash: string): number | undefined
  /** In blocks with an odd number empty lists are left out of an item, as a service may do. */
  readonly dropsEmptyInOddBlocks: boolean
}

export type Block = {
  readonly number: number
  readonly hash: string
  /** Native transactions (interface 2.2), in block order. */
  readonly transactions: readonly JsonObject[]
}
