import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openOutput } from '../assemble/assemble.ts'
import { nothingEarlier } from '../assemble/earlier-export.ts'
import { newFigures } from '../core/figures.ts'
import type { BlockRange, Job } from '../core/model.ts'
import { makeScratch } from '../core/scratch-folder.ts'
import { eachPage } from '../spool/pages.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { folderStore } from '../store/store.ts'
import type { Working } from './read-unit.ts'
import { keepPartition, listPages, pagesPath, type Record, unfinishedFolder } from './record.ts'
import { nameUnit, type WriteUnit } from './unit.ts'

/**
 * Makes the export of one partition from the pages in the record: it needs nothing but these, so that its bytes are those
 * of one machine. Doing it twice gives the same.
 */
export async function writeUnit({ plan, record, requester }: Working, unit: WriteUnit): Promise<void> {
  const scratch = await makeScratch('partition')
  const token = randomBytes(6).toString('hex')
  const folder = unfinishedFolder(record, `${nameUnit(unit)}-${token}`)
  const job: Job = { ...plan.job, startBlock: unit.from, endBlock: unit.to, output: folder }
  try {
    const spool = await gatherPages({ record, job, folder: scratch }, unit)
    try {
      await writePartition(job, spool, requester.signal)
    } finally {
      await spool.close()
    }
    await keepPartition(record, unit, folder)
  } finally {
    await rm(scratch, { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
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
    await rm(join(job.output, '.walletlake'), { recursive: true, force: true })
  }
}

type Gathering = { record: Record; job: Job; folder: string }

/** A checkpoint of the pages that may hold items of these blocks; and of items that have no place, wherever they are. */
async function gatherPages({ record, job, folder }: Gathering, { from, to }: BlockRange): Promise<Spool> {
  const { chain, startBlock, endBlock = to } = job
  const identity = { chain, startBlock, endBlock, finalityMs: 0 }
  const spool = await openSpool({ folder, identity, now: Date.now(), onDamage: () => {} })
  for (const covered of await listPages(record)) {
    for await (const page of eachPage(pagesPath(record, covered))) {
      const { blocks, bad, wallet } = page
      const isHere = blocks !== undefined && blocks.max >= from && blocks.min < to
      if (isHere || bad > 0) await spool.addPage(wallet, page)
    }
  }
  return spool
}
