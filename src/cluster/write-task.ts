import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Spool } from '../checkpoint/checkpoint.ts'
import { openSpool } from '../checkpoint/open-checkpoint.ts'
import type { PageLog } from '../checkpoint/page-log.ts'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { type Figures, newFigures } from '../core/model/run-stats.ts'
import { hashFile } from '../core/platform/disk.ts'
import { makeScratch } from '../core/platform/scratch-folder.ts'
import { openOutput } from '../export/open-output.ts'
import type { Earlier } from '../export/resume/previous-export.ts'
import { readManifestIfAny } from '../files/publish.ts'
import { folderStore } from '../storage/store.ts'
import { fingerprintBytes, readFingerprints } from '../transform/merge/fingerprints.ts'
import type { Plan } from './plan.ts'
import { openReadPages } from './read-pages.ts'
import { type Read, type Reading, refusedIn, requireReading } from './read-results.ts'
import { identityOf, type Working } from './read-task.ts'
import { forgetDamaged } from './remove-damaged.ts'
import { addTo, putPartition, type Record, requireCurrent } from './run-state.ts'
import type { WriteUnit } from './task.ts'
import { WRITES, type Write } from './write-results.ts'

/**
 * Makes the export of one partition from the pages in the record: it needs nothing but these, so that its bytes are those
 * of one machine. Doing it twice gives the same. Refuses where pages are missing; damaged ones are forgotten, so that the
 * run reads them again.
 */
export async function writeUnit(working: Working, unit: WriteUnit): Promise<void> {
  const { plan, record } = working
  await requireCurrent(record)
  const reading = await requireReading(record, plan)
  try {
    await makePartition(working, unit, reading)
  } catch (thrown) {
    await forgetDamaged({ plan, record }, { reading, writes: [] }, thrown)
    throw thrown
  }
}

async function makePartition(
  { plan, record, requester }: Working,
  unit: WriteUnit,
  reading: Reading,
): Promise<void> {
  const scratch = await makeScratch('partition')
  const folder = join(scratch, 'export')
  const range = { startBlock: unit.from, endBlock: unit.to }
  const job: Job = { ...plan.job, ...range, output: folder, store: undefined }
  const figures = newFigures(job.wallets.length, Date.now())
  try {
    const spool = await gatherPages({ record, plan, job, folder: join(scratch, 'pages') }, reading.reads)
    const fingerprints = join(scratch, 'fingerprints')
    let found: Found
    try {
      found = await writePartition({
        ...{ job, plan, reading, spool, figures, fingerprints },
        signal: requester.signal,
      })
    } finally {
      await spool.close()
    }
    const manifest = await readManifestIfAny(folder)
    if (manifest === undefined) throw new ExportError('BUG', 'a partition was made without a manifest')
    const ofPlan = { attempt: plan.attempt, plan: plan.sha256, from: unit.from, to: unit.to }
    const hashes = {
      manifest: await hashFile(join(folder, MANIFEST_FILE)),
      fingerprints: await hashFile(fingerprints),
    }
    const made = { ...found, ...hashes, reading: reading.sha256, repeatedLogs: figures.repeatedLogs }
    await addTo(record, async (token) => {
      await putPartition(record, token, { folder, manifest, fingerprints })
      await WRITES.put(record, { ...ofPlan, ...made, token, times: figures.written?.times ?? null })
    })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

type Partition = {
  job: Job
  plan: Plan
  reading: Reading
  spool: Spool
  figures: Figures
  /** The file that the fingerprints of the transactions go to. */
  fingerprints: string
  signal: AbortSignal
}

type Found = Pick<Write, 'contradicted' | 'contradictions'>

async function writePartition({ job, plan, reading, fingerprints, ...writing }: Partition): Promise<Found> {
  const { startBlock, endBlock = startBlock } = job
  // Rows of wallets that left the job are made as those of the others, up to where they were read.
  const earlier: Earlier = {
    ...{ from: startBlock, before: plan.before, written: [], rejects: [] },
    isComparable: false,
    ends: endsIn(plan, reading),
  }
  const output = await openOutput({ ...writing, job, store: folderStore(job.output), earlier })
  try {
    const { hashes, contradicted, contradictions } = await output.arrange(endBlock)
    await appendFile(fingerprints, '')
    for (const one of hashes) await appendFile(fingerprints, fingerprintBytes([...readFingerprints(one)]))
    await output.finish(endBlock)
    return { contradicted, contradictions: contradictions.flatMap(({ views }) => views).slice(0, MOST_SHOWN) }
  } finally {
    await output.close()
  }
}

/** Where wallets end that the service refused. */
function endsIn(plan: Plan, { reads }: Reading): ReadonlyMap<string, number> {
  return new Map(refusedIn(plan, reads).map(({ address, toBlock }) => [address, toBlock]))
}

/** Pages of contradictions that are named, at most. */
const MOST_SHOWN = 1_000

type Gathering = { record: Record; plan: Plan; job: Job; folder: string }

/** A checkpoint of the pages that may hold items of these blocks; and of items that have no place, wherever they are. */
async function gatherPages({ record, plan, job, folder }: Gathering, reads: readonly Read[]): Promise<Spool> {
  const { startBlock: from, endBlock: to = from } = job
  const spool = await openSpool({
    folder,
    identity: identityOf(plan, { from, to }),
    now: Date.now(),
    onDamage: () => {},
  })
  for (const read of reads) {
    const log = await openReadPages(record, read)
    const isWanted: Parameters<PageLog['read']>[0] = ({ blocks, bad, items }) =>
      items > 0 && ((blocks !== null && blocks.max >= from && blocks.min < to) || bad > 0)
    for await (const page of log.read(isWanted)) await spool.addPage(page.wallet, page)
  }
  return spool
}
