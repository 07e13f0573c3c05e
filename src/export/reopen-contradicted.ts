import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { countBlocks, subtractRange, unionRanges } from '../core/model/block-ranges.ts'
import type { Listings } from '../core/model/listings.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import type { MergeResult } from './output-writer.ts'

/**
 * Maximum number of blocks that a process reads again, summed over listings. Each takes one request or
 * slightly more.
 */
const MAX_REREADS = 1_000

type FoundContradictions = Pick<MergeResult, 'contradicted' | 'contradictions'>

export type ReopenOptions = {
  job: Job
  checkpoint: Pick<Checkpoint, 'reopened' | 'reopen'>
  listings: Listings
  onNotice: (notice: string) => void
}

/**
 * Returns a function that reopens the blocks of contradicted transactions, for every wallet
 * that has a view of them, so that all views come from the same state of the service. A block of a listing is
 * read again only once per run; at most MAX_REREADS are, in chain order. The function resolves with whether
 * any blocks must be read again.
 */
export function createReopener({ job, checkpoint, listings, onNotice }: ReopenOptions) {
  let remaining = MAX_REREADS
  return async ({ contradicted, contradictions }: FoundContradictions): Promise<boolean> => {
    const ranges = new Map<string, BlockRange[]>()
    for (const { block, views } of contradictions) {
      for (const view of views) {
        const wanted = rangesToReopen([view.block, block], {
          bounds: listings.get(view.wallet),
          reopened: unionRanges([...checkpoint.reopened(view.wallet), ...(ranges.get(view.wallet) ?? [])]),
        })
        const blocks = countBlocks(wanted)
        if (blocks > remaining) continue
        remaining -= blocks
        if (blocks > 0) ranges.set(view.wallet, [...(ranges.get(view.wallet) ?? []), ...wanted])
      }
    }
    const transactionsText =
      contradicted === 1 ? '1 transaction differs' : `${contradicted} transactions differ`
    if (ranges.size === 0) {
      if (contradicted > 0) onNotice(`${job.name}: ${transactionsText} between wallets even when read again`)
      return false
    }
    onNotice(
      `${job.name}: ${transactionsText} between wallets and will be read again for ${ranges.size} of them`,
    )
    for (const [wallet, all] of ranges)
      for (const range of unionRanges(all)) await checkpoint.reopen(wallet, range)
    return true
  }
}

type ReopenFilter = { bounds: BlockRange | undefined; reopened: readonly BlockRange[] }

/** Returns those of the blocks that are within the bounds of the listing and have not been read again yet. */
function rangesToReopen(blocks: readonly number[], { bounds, reopened }: ReopenFilter): BlockRange[] {
  if (bounds === undefined) return []
  const inside = blocks.filter((block) => block >= bounds.from && block < bounds.to)
  const wanted = unionRanges(inside.map((block) => ({ from: block, to: block + 1 })))
  return reopened.reduce(subtractRange, wanted)
}
