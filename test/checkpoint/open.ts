import type { CheckpointIdentity } from '../../src/checkpoint/checkpoint-identity.ts'
import { openCheckpoint } from '../../src/checkpoint/open-checkpoint.ts'
import { type Listings, UNBOUNDED } from '../../src/core/model/listings.ts'

export const CLOSED = { chain: '1', startBlock: 10, endBlock: 100, finalityMs: 0 }
export const OPEN = { ...CLOSED, endBlock: null, finalityMs: 500 }
export const NOW = 1_000_000

export const open = (folder: string, identity: CheckpointIdentity = CLOSED, now = NOW) =>
  openCheckpoint({ folder, identity, now, onDamage: () => {} })

/** A page that covers the blocks [from, to). */
export function page(
  from: number,
  to: number,
  { items = 1, bad = 0, head = undefined as number | undefined } = {},
) {
  return {
    body: Buffer.from(`{"from":${from}}`),
    items,
    bad,
    blocks: items === 0 ? undefined : { min: from, max: Math.min(to, 1_000) - 1 },
    head,
    covered: { from, to },
  }
}

/** Listings with these names and without bounds. */
export const listed = (...names: readonly string[]): Listings =>
  new Map(names.map((name) => [name, UNBOUNDED]))
