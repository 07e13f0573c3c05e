import type { Spool } from '../checkpoint/checkpoint.ts'
import type { Listings } from '../core/model/listings.ts'
import type { Job } from '../core/model/model.ts'
import { writeRaw } from '../files/raw.ts'
import { placesIn } from '../transform/batches.ts'
import { mergeItems } from '../transform/merge/merge-items.ts'
import { openSource } from '../transform/merge/page-source.ts'
import { openPlaces } from '../transform/open-page-reader.ts'
import { badItems } from '../transform/rejects.ts'
import type { Earlier } from './resume/previous-export.ts'

type Keeping = {
  job: Job
  spool: Spool
  earlier: Earlier
  listings: Listings
  /** Blocks from this one on were not read by this run. */
  to: number
}

/** Keeps items as they were received, in chain order, one a line: a file a wallet, or one of all blocks, under `raw/`. */
export async function keepRaw({ job, spool, earlier, listings, to }: Keeping): Promise<void> {
  const pages = openPlaces({ pagesFile: spool.path })
  // Pages of earlier runs may be gone: then the file has their items, and these come after it.
  const appendFrom = spool.base > job.startBlock ? earlier.from : undefined
  const range = { from: appendFrom ?? job.startBlock, to }
  const { chain } = job
  const context = { read: pages.read, chain, range, cutMs: spool.cutMs }
  try {
    for (const [address, counted] of listings) {
      const frames = spool.frames(new Map([[address, counted]]))
      const transactions = mergeItems(placesIn(frames, range).map((place) => openSource(place, context)))
      const bad = (await badItems(frames, { spool, chain })).map(({ item }) => item)
      await writeRaw({ ...{ folder: job.output, address, chain, transactions, bad }, appendFrom })
    }
  } finally {
    pages.close()
  }
}
