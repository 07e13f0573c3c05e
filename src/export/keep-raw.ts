import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { Listings } from '../core/model/listings.ts'
import type { Job } from '../core/model/model.ts'
import { writeRaw } from '../files/raw.ts'
import { pagesIn } from '../transform/batches.ts'
import { mergeItems } from '../transform/merge/merge-items.ts'
import { openPageSource } from '../transform/merge/page-source.ts'
import { openPageReader } from '../transform/open-page-reader.ts'
import { badItems } from '../transform/rejects.ts'
import type { PreviousExport } from './resume/previous-export.ts'

type KeepRawOptions = {
  job: Job
  checkpoint: Checkpoint
  previous: PreviousExport
  listings: Listings
  /** Blocks from this one on were not read by this run. */
  to: number
}

/** Keeps items as they were received, in chain order, one a line: a file a wallet, or one of all blocks, under `raw/`. */
export async function keepRaw({ job, checkpoint, previous, listings, to }: KeepRawOptions): Promise<void> {
  const pageReader = openPageReader({ pagesFile: checkpoint.path })
  // Pages of earlier runs may be gone: then the file has their items, and these come after it.
  const appendFrom = checkpoint.base > job.startBlock ? previous.from : undefined
  const range = { from: appendFrom ?? job.startBlock, to }
  const { chain } = job
  const context = { readPage: pageReader.read, chain, range, cutoffMs: checkpoint.cutMs }
  try {
    for (const [address, bounds] of listings) {
      const records = checkpoint.records(new Map([[address, bounds]]))
      const transactions = mergeItems(
        pagesIn(records, range).map((location) => openPageSource(location, context)),
      )
      const bad = (await badItems(records, { checkpoint, chain })).map(({ item }) => item)
      await writeRaw({ ...{ folder: job.output, address, chain, transactions, bad }, appendFrom })
    }
  } finally {
    pageReader.close()
  }
}
