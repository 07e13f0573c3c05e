import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { Listings } from '../core/model/listings.ts'
import type { Coverage } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import type { WriteContext } from './threads/task.ts'

export type WriteContextOptions = {
  job: Pick<Job, 'chain' | 'nativeSymbol' | 'tables' | 'format' | 'escapeFormulas' | 'partitionBy'>
  checkpoint: Pick<Checkpoint, 'cutMs' | 'path'>
  listings: Listings
  /** Wallets that may have a label. */
  wallets: readonly Pick<Coverage, 'address' | 'label'>[]
  /** Rows of blocks before this one are there already. */
  from: number
  /** Where lines are staged. */
  folder: string
}

/** What the writing of a job's rows depends on. */
export function writeContext({
  job,
  checkpoint,
  listings,
  wallets,
  from,
  folder,
}: WriteContextOptions): WriteContext {
  const { chain, nativeSymbol, tables, format, escapeFormulas, partitionBy } = job
  return {
    ...{ chain, nativeSymbol, tables, format, escapeFormulas, partitionBy, from, folder },
    addresses: [...listings.keys()],
    endBlocks: endBlocksOf(listings),
    labels: labelsOf(wallets),
    cutoffMs: checkpoint.cutMs,
    pagesFile: checkpoint.path,
  }
}

/** Where listings end that do not count everywhere. */
function endBlocksOf(listings: Listings): Map<string, number> {
  const bounded = [...listings].filter(([, { to }]) => to !== Number.POSITIVE_INFINITY)
  return new Map(bounded.map(([address, { to }]) => [address, to]))
}
