import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openOutput } from '../assemble/assemble.ts'
import { nothingEarlier } from '../assemble/earlier-export.ts'
import { ExportError } from '../core/errors.ts'
import { newFigures } from '../core/figures.ts'
import type { BlockRange, Job } from '../core/model.ts'
import { makeScratch } from '../core/scratch-folder.ts'
import { eachPage } from '../spool/pages.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { folderStore } from '../store/store.ts'
import { readManifestIfAny } from '../write/publish.ts'
import type { Working } from './read-unit.ts'
import { keepPartition, listPages, pagesPath, type Record } from './record.ts'
import type { WriteUnit } from './unit.ts'

/**
 * Makes the export of one partition from the pages in the record: it needs nothing but these, so that its bytes are those
 * of one machine. Doing it twice gives the same.
 */
export async function writeUnit({ plan, record, requester }: Working, unit: WriteUnit): Promise<void> {
  const scratch = await makeScratch('partition')
  const folder = join(scratch, 'export')
  const range = { startBlock: unit.from, endBlock: unit.to }
  const job: Job = { ...plan.job, ...range, output: folder, store: undefined }
  try {
    const spool = await gatherPages({ record, job, folder: join(scratch, 'pages') }, unit)
    try {
      await writePartition(job, spool, requester.signal)
    } finally {
      await spool.close()
    }
    const manifest = await readManifestIfAny(folder)
    if (manifest === undefined) throw new ExportError('BUG', 'a partition was made without a manifest')
    await keepPartition(record, unit, { folder, manifest })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function writePartition(job: Job, spool: Spool, signal: AbortSignal): Promise<void> {
  const figures = newFigures(job.wallets.length, Date.now())
  const output = await openOutput({
    job,
    store: folderStore(job.output),
    spool,
    figures,
    signal,
    earlier: nothingEarlier(job),
  })
  try {
    await output.finish(job.endBlock ?? job.startBlock)
  } finally {
    await output.close()
  }
}

type Gathering = { record: Record; job: Job; folder: string }

/** A checkpoint of the pages that may hold items of these blocks; and of items that have no place, wherever they are. */
async function gatherPages({ record, job, folder }: Gathering, { from, to }: BlockRange): Promise<Spool> {
  const { chain, startBlock, endBlock = to } = job
  const identity = { chain, startBlock, endBlock, finalityMs: 0 }
  const spool = await openSpool({ folder, identity, now: Date.now(), onDamage: () => {} })
  for (const covered of await listPages(record)) {
    for await (const page of eachPage(await record.localPath(pagesPath(covered)))) {
      const { blocks, bad, wallet } = page
      const isHere = blocks !== undefined && blocks.max >= from && blocks.min < to
      if (isHere || bad > 0) await spool.addPage(wallet, page)
    }
  }
  return spool
}
