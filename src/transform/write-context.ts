import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { Listings } from '../core/model/listings.ts'
import type { Coverage } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import type { FeeSource } from './fees.ts'
import type { WriteContext } from './threads/task.ts'

export type WriteContextOptions = {
  job: Pick<
    Job,
    | 'chain'
    | 'nativeSymbol'
    | 'wraps'
    | 'wrappedCoins'
    | 'tables'
    | 'format'
    | 'escapeFormulas'
    | 'partitionBy'
    | 'service'
  >
  checkpoint: Pick<Checkpoint, 'cutoffMs' | 'path'>
  listings: Listings
  /** Wallets whose labels are used. */
  wallets: readonly Pick<Coverage, 'address' | 'label'>[]
  /** Blocks before this one are exported already. */
  from: number
  /** Folder of the staging files. */
  folder: string
  /** Prices at the beginning. */
  fees: FeeSource
}

/** Builds the context that all write tasks of a job share. */
export function writeContext({
  job,
  checkpoint,
  listings,
  wallets,
  from,
  folder,
  fees,
}: WriteContextOptions): WriteContext {
  const { chain, nativeSymbol, wraps, wrappedCoins, tables, format, escapeFormulas, partitionBy } = job
  return {
    api: job.service.api,
    chain,
    nativeSymbol,
    wraps,
    wrappedCoins,
    tables,
    format,
    escapeFormulas,
    partitionBy,
    from,
    folder,
    fees,
    addresses: [...listings.keys()],
    endBlocks: endBlocksOf(listings),
    labels: labelsOf(wallets),
    cutoffMs: checkpoint.cutoffMs,
    pagesFile: checkpoint.path,
  }
}

/** Returns the end blocks of the listings that count only up to a block (wallets removed from the job). */
function endBlocksOf(listings: Listings): Map<string, number> {
  const bounded = [...listings].filter(([, { to }]) => to !== Number.POSITIVE_INFINITY)
  return new Map(bounded.map(([address, { to }]) => [address, to]))
}
