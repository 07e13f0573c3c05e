import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { PageRecord } from '../../checkpoint/listing-state.ts'
import { type Listings, UNBOUNDED } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { largest, smallest } from '../../core/platform/extremes.ts'
import type { Source } from '../../sources/source.ts'
import { keyedItems } from '../../transform/merge/page-items.ts'

/** How the blocks that a run read again differ from the stored pages of earlier runs. */
export type Comparison = {
  /** The first block before `to` with other on-chain fields; undefined if there is none. */
  changedFrom: number | undefined
  /** By listing, the transactions that it does not contain any more, each with its former block. */
  vanished: ReadonlyMap<string, ReadonlyMap<string, number>>
}

/**
 * Compares the on-chain fields of the blocks that this run read again with those of the stored pages of earlier runs: a
 * transaction was added, removed or moved, or its entries differ. Names, prices and metadata are not compared. A
 * transaction that one of the two contains in several versions counts as changed: a reorg happened while they were read,
 * and the export may contain the stale one.
 */
export async function compareRereads(
  checkpoint: Pick<Checkpoint, 'rereadPages' | 'reopened' | 'read'>,
  listings: Listings,
  { to, source }: { to: number; source: Source },
): Promise<Comparison> {
  let first = to
  const vanished = new Map<string, Map<string, number>>()
  for (const name of listings.keys()) {
    const { from, before, after } = checkpoint.rereadPages(name)
    const context = { checkpoint, lookback: { from, to: Number.POSITIVE_INFINITY }, source }
    const [previous, current] = [
      await readOnChainFields(before, context),
      await readOnChainFields(after, context),
    ]
    for (const [transactions, others] of [
      [previous, current],
      [current, previous],
    ] as const)
      for (const [hash, { block, fields }] of transactions)
        if (fields === CONTRADICTORY || others.get(hash)?.fields !== fields) first = Math.min(first, block)
    const lost = [...previous].filter(([hash]) => !current.has(hash))
    if (lost.length > 0) vanished.set(name, new Map(lost.map(([hash, { block }]) => [hash, block])))
    // What a listing had in blocks that were opened again is not known any more.
    for (const reopened of checkpoint.reopened(name)) first = Math.min(first, reopened.from)
  }
  return { changedFrom: first < to ? first : undefined, vanished }
}

/** Replaces the on-chain fields of a transaction that was received with different ones. */
const CONTRADICTORY = 'contradictory'

/** What the pages state about a transaction, and the first block in which they do. */
type Stated = { block: number; fields: string }

type ReadContext = { checkpoint: Pick<Checkpoint, 'read'>; lookback: BlockRange; source: Source }

/** Returns the on-chain fields of each transaction by hash. */
async function readOnChainFields(
  records: readonly PageRecord[],
  { checkpoint, lookback: { from, to }, source }: ReadContext,
) {
  const stated = new Map<string, Stated>()
  for (const { location, blocks, validBefore, rereadRanges = [] } of records) {
    if (blocks === null || blocks.max < from || blocks.min >= to) continue
    for (const { key, item } of keyedItems(await checkpoint.read(location), source)) {
      if (key.block < from || key.block >= Math.min(to, validBefore)) continue
      if (rereadRanges.some((range) => key.block >= range.from && key.block < range.to)) continue
      const [known, fields] = [stated.get(key.hash), source.onChainFieldsOf(item)]
      const isContradictory = known !== undefined && known.fields !== fields
      stated.set(key.hash, {
        block: Math.min(key.block, known?.block ?? key.block),
        fields: isContradictory ? CONTRADICTORY : fields,
      })
    }
  }
  return stated
}

type ConfirmOptions = {
  source: Source
  /** Fetches the remaining blocks. */
  fetchMissing: () => Promise<number>
}

/**
 * Reads transactions that have vanished from a listing a second time, before their rows are removed: a replica of the
 * service may have answered with an older state, or with nothing. If the second answer contains them, they stay. If not,
 * the coverage of the listing ends before them, so that the next run reads their blocks once more.
 *
 * @returns the number of transactions that the second answer contains
 */
export async function confirmRemovals(
  checkpoint: Pick<Checkpoint, 'reopen' | 'records' | 'read' | 'limitCoverage'>,
  vanished: Comparison['vanished'],
  { source, fetchMissing }: ConfirmOptions,
): Promise<number> {
  for (const [name, blocks] of vanished)
    await checkpoint.reopen(name, { from: smallest(blocks.values()), to: largest(blocks.values()) + 1 })
  if (vanished.size > 0) await fetchMissing()
  let kept = 0
  for (const [name, blocks] of vanished) {
    const present = await hashesIn(checkpoint, { name, from: smallest(blocks.values()), source })
    const removed = [...blocks].filter(([hash]) => !present.has(hash))
    kept += blocks.size - removed.length
    if (removed.length > 0) await checkpoint.limitCoverage(name, smallest(removed.map(([, block]) => block)))
  }
  return kept
}

async function hashesIn(
  checkpoint: Pick<Checkpoint, 'records' | 'read'>,
  { name, from: first, source }: { name: string; from: number; source: Source },
): Promise<ReadonlySet<string>> {
  const listings: Listings = new Map([[name, UNBOUNDED]])
  const hashes = new Set<string>()
  for (const { location, blocks, validBefore, rereadRanges = [] } of checkpoint.records(listings)) {
    if (blocks === null || blocks.max < first) continue
    for (const { key } of keyedItems(await checkpoint.read(location), source))
      if (
        key.block < validBefore &&
        !rereadRanges.some(({ from, to }) => key.block >= from && key.block < to)
      )
        hashes.add(key.hash)
  }
  return hashes
}
