import type { Listings } from '../core/listings.ts'
import type { Job } from '../core/model.ts'
import { mergeItems } from '../merge/merge-items.ts'
import { openSource } from '../merge/page-source.ts'
import type { Spool } from '../spool/spool.ts'
import { writeRaw } from '../write/raw.ts'
import type { Earlier } from './earlier-export.ts'
import { openPlaces } from './open-places.ts'
import { badItems } from './rejects.ts'
import { placesIn } from './slices.ts'

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
