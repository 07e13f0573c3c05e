import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { Listings } from '../core/model/listings.ts'
import type { Job } from '../core/model/model.ts'
import { writeRaw } from '../files/raw.ts'
import { sourceOf } from '../sources/index.ts'
import { pagesIn } from '../transform/batches.ts'
import { mergeItems } from '../transform/merge/merge-items.ts'
import { openPageSource } from '../transform/merge/page-items.ts'
import { openPageReader } from '../transform/page-reader.ts'
import { badItems } from '../transform/rejects.ts'
import type { PreviousExport } from './resume/previous-export.ts'

type KeepRawOptions = {
  job: Job
  checkpoint: Checkpoint
  previous: PreviousExport
  listings: Listings
  /** Exclusive end of the export. */
  to: number
}

/**
 * Writes items as they were received to `raw/`, in chain order, one per line: one file per wallet, or one for
 * all blocks of a blocks job.
 */
export async function keepRaw({ job, checkpoint, previous, listings, to }: KeepRawOptions): Promise<void> {
  const pageReader = openPageReader({ pagesFile: checkpoint.path })
  // If pages of earlier runs are no longer in the checkpoint, their items are in the existing file, and the
  // rest is appended.
  const appendFrom = checkpoint.base > job.startBlock ? previous.from : undefined
  const range = { from: appendFrom ?? job.startBlock, to }
  const { chain } = job
  const source = sourceOf(job.service.api)
  const context = { readPage: pageReader.read, source, chain, range, cutoffMs: checkpoint.cutoffMs }
  try {
    for (const [address, bounds] of listings) {
      const records = checkpoint.records(new Map([[address, bounds]]))
      const transactions = mergeItems(
        pagesIn(records, range).map((location) => openPageSource(location, context)),
      )
      const bad = (await badItems(records, { checkpoint, chain, source })).map(({ item }) => item)
      await writeRaw({ folder: job.output, address, source, chain, transactions, bad, appendFrom })
    }
  } finally {
    pageReader.close()
  }
}
