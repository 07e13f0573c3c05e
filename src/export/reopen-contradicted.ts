import type { Spool } from '../checkpoint/checkpoint.ts'
import { countBlocks, subtractRange, uniteRanges } from '../core/model/block-ranges.ts'
import type { Listings } from '../core/model/listings.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import type { Arranged } from './open-output.ts'

/** Blocks of listings that a process reads again at most, each of them a request or a little more. */
const MOST_REREADS = 1_000

type Found = Pick<Arranged, 'contradicted' | 'contradictions'>

export type Reopening = {
  job: Job
  spool: Pick<Spool, 'reopened' | 'reopen'>
  listings: Listings
  onNotice: (notice: string) => void
}

/**
 * Leaves blocks to be read again in which wallets were shown a transaction differently, for every wallet that was shown it: so
 * all of their views come from one state of the service. A block of a listing is read again once in a run, in the order of
 * the chain, and MOST_REREADS are read again at most. Resolves with whether any are to be.
 */
export function createReopener({ job, spool, listings, onNotice }: Reopening) {
  let left = MOST_REREADS
  return async ({ contradicted, contradictions }: Found): Promise<boolean> => {
    const ranges = new Map<string, BlockRange[]>()
    for (const { block, views } of contradictions) {
      for (const view of views) {
        const wanted = openRanges([view.block, block], {
          counted: listings.get(view.wallet),
          known: uniteRanges([...spool.reopened(view.wallet), ...(ranges.get(view.wallet) ?? [])]),
        })
        const blocks = countBlocks(wanted)
        if (blocks > left) continue
        left -= blocks
        if (blocks > 0) ranges.set(view.wallet, [...(ranges.get(view.wallet) ?? []), ...wanted])
      }
    }
    const what = contradicted === 1 ? '1 transaction differs' : `${contradicted} transactions differ`
    if (ranges.size === 0) {
      if (contradicted > 0) onNotice(`${job.name}: ${what} between wallets even when read again`)
      return false
    }
    onNotice(`${job.name}: ${what} between wallets and will be read again for ${ranges.size} of them`)
    for (const [wallet, all] of ranges)
      for (const range of uniteRanges(all)) await spool.reopen(wallet, range)
    return true
  }
}

type Open = { counted: BlockRange | undefined; known: readonly BlockRange[] }

/** These blocks, as far as the listing counts there and they have not been read again. */
function openRanges(blocks: readonly number[], { counted, known }: Open): BlockRange[] {
  if (counted === undefined) return []
  const inside = blocks.filter((block) => block >= counted.from && block < counted.to)
  const wanted = uniteRanges(inside.map((block) => ({ from: block, to: block + 1 })))
  return known.reduce(subtractRange, wanted)
}
