import { ExportError } from '../../../core/model/errors.ts'
import { LOOKBACK_BLOCKS } from '../../../core/model/lookback.ts'
import { NO_END } from '../../../core/model/model.ts'
import type { RangePage } from '../../source.ts'
import type { CompleteBlocks } from './complete-blocks.ts'
import type { InternalBlocks } from './internal-listing.ts'
import type { RangeSpec } from './read-range.ts'
import { isOfBlock, type JsonObject } from './unite-internals.ts'

/** Blocks of both listings. */
export type AddedBlocks = Pick<RangeSpec, 'chain' | 'order'> & {
  listed: Pick<CompleteBlocks, 'entries'>
  added: InternalBlocks
  /** Contradictions from this block on are left to a later run, which reads these blocks again. */
  rereadFrom: number
}

/** Why a block could not be completed. */
export type BlockFailure = {
  error: unknown
  /** Whether a reorg between two requests may be the reason, so that requesting the block again may help. */
  mayBeOutdated: boolean
}

/**
 * Finds the first block, in the order of reading, in which an internal transaction names another block than its
 * transaction: a reorg has moved the transaction between two requests. Blocks from `rereadFrom` on do not count.
 *
 * @param details by hash, the transactions that are not listed
 */
export function findContradiction(
  { listed, added, order, rereadFrom }: AddedBlocks,
  details: ReadonlyMap<string, JsonObject>,
): { block: number; failure: BlockFailure } | undefined {
  const natives = new Map<string | undefined, unknown[]>([...details].map(([hash, one]) => [hash, [one]]))
  for (const { hash, entry } of listed.entries)
    natives.set(hash, [...(natives.get(hash) ?? []), entry.nativeTransaction])
  let first: { block: number; hash: string } | undefined
  for (const { hash, block, entry } of added.entries) {
    if (hash === undefined || block === undefined || block >= rereadFrom) continue
    if (natives.get(hash)?.some((native) => isOfBlock(entry, native)) !== false) continue
    const isEarlier = first === undefined || (order === 'asc' ? block < first.block : block > first.block)
    if (isEarlier) first = { block, hash }
  }
  return first && { block: first.block, failure: { error: contradictionError(first), mayBeOutdated: true } }
}

/**
 * Returns a function that finds the first block that a later run reads again, from the pages of an open range so far. All
 * blocks of a closed range, and those further below the head, must be complete now.
 */
export function trackRereadBlocks({ range, head, mutableBlocks = LOOKBACK_BLOCKS }: RangeSpec) {
  let observed: number | undefined
  return ({ blocks }: Pick<RangePage, 'blocks'>): number => {
    if (blocks !== undefined) observed = Math.max(observed ?? 0, blocks.max)
    const headBlock = head?.() ?? observed
    return range.to === NO_END && headBlock !== undefined ? headBlock - mutableBlocks + 1 : NO_END
  }
}

const contradictionError = ({ block, hash }: { block: number; hash: string }): ExportError =>
  new ExportError(
    'PAGE_MALFORMED',
    `transaction ${hash}: its internal transactions are listed in block ${block}, and itself in another one`,
    { fix: 'Run the same command again. If it fails again, set internals: listing.' },
  )
