import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { PageLog } from '../checkpoint/inspect-checkpoint.ts'
import { openCheckpoint } from '../checkpoint/open-checkpoint.ts'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE } from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import { newRunStats } from '../core/model/run-stats.ts'
import { hashFile } from '../core/platform/disk.ts'
import { createScratchFolder } from '../core/platform/scratch-folder.ts'
import { fixedFees } from '../export/fees/fee-resolver.ts'
import { openOutputWriter } from '../export/output-writer.ts'
import type { PreviousExport } from '../export/resume/previous-export.ts'
import { readManifestIfExists } from '../files/publish.ts'
import { folderStore } from '../storage/store.ts'
import { fingerprintBytes, readFingerprints } from '../transform/merge/fingerprints.ts'
import type { Plan } from './plan.ts'
import {
  openReadPages,
  type ReadResult,
  type ReadSelection,
  refusedWallets,
  requireSelection,
} from './read-results.ts'
import { identityOf, type TaskContext } from './read-task.ts'
import { removeDamaged } from './remove-damaged.ts'
import { loadRunFees } from './run-fees.ts'
import { addResult, putPartition, requireCurrentAttempt } from './run-state.ts'
import type { WriteTask } from './tasks.ts'
import { WRITE_RESULTS } from './write-results.ts'

/**
 * Runs a write task: writes the export of one partition from the stored pages alone, so that its bytes equal
 * those of one machine. Idempotent. Throws if pages are missing; damaged pages are removed, so that the run
 * reads them again.
 */
export async function runWriteTask(context: TaskContext, task: WriteTask): Promise<void> {
  const { plan, runState } = context
  await requireCurrentAttempt(runState)
  const selection = await requireSelection(runState, plan)
  try {
    await makePartition(context, task, selection)
  } catch (error) {
    await removeDamaged({ plan, runState }, { selection, writes: [] }, error)
    throw error
  }
}

async function makePartition(
  { plan, runState, requestContext: { signal } }: TaskContext,
  { from, to }: WriteTask,
  selection: ReadSelection,
): Promise<void> {
  const scratch = await createScratchFolder('partition')
  const folder = join(scratch, 'export')
  const job: Job = { ...plan.job, startBlock: from, endBlock: to, output: folder, store: undefined }
  const stats = newRunStats(job.wallets.length, Date.now())
  // Rows of removed wallets are built like those of the others, up to the block to which they were read.
  const previous: PreviousExport = {
    from,
    manifest: plan.before,
    written: [],
    rejects: [],
    isComparable: false,
    refusedEnds: refusedEnds(plan, selection),
  }
  try {
    const checkpoint = await gatherPages(
      { plan, runState },
      selection.reads,
      { from, to },
      join(scratch, 'pages'),
    )
    const fees = fixedFees(await loadRunFees({ plan, runState }, selection))
    const writing = { job, store: folderStore(folder), checkpoint, stats, signal, previous, fees }
    const output = await openOutputWriter(writing)
    try {
      await output.stage(to)
      const { batches, contradicted, contradictions } = await output.merge()
      const fingerprints = join(scratch, 'fingerprints')
      await appendFile(fingerprints, '')
      for (const { hashes } of batches)
        await appendFile(fingerprints, fingerprintBytes([...readFingerprints(hashes)]))
      const { decimals = {} } = await output.publish()
      const manifest = await readManifestIfExists(folder)
      if (manifest === undefined) throw new ExportError('BUG', 'a partition was made without a manifest')
      await addResult(runState, async (token) => {
        await putPartition(runState, token, { folder, manifest, fingerprints })
        await WRITE_RESULTS.put(runState, {
          attempt: plan.attempt,
          plan: plan.sha256,
          token,
          from,
          to,
          reading: selection.sha256,
          manifest: await hashFile(join(folder, MANIFEST_FILE)),
          fingerprints: await hashFile(fingerprints),
          repeatedLogs: stats.repeatedLogs,
          contradicted,
          contradictions: contradictions.flatMap(({ views }) => views).slice(0, MAX_CONTRADICTIONS),
          decimals,
          times: stats.written?.times ?? null,
        })
      })
    } finally {
      await output.close()
      await checkpoint.close()
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** The blocks up to which refused wallets were read. */
function refusedEnds(plan: Plan, { reads }: ReadSelection): ReadonlyMap<string, number> {
  return new Map(refusedWallets(plan, reads).map(({ address, toBlock }) => [address, toBlock]))
}

/** Maximum number of listing positions of contradictions per partition. */
const MAX_CONTRADICTIONS = 1_000

/**
 * Collects the pages that may contain items of the partition's blocks, and all pages with items that have no
 * position.
 */
async function gatherPages(
  { plan, runState }: Pick<TaskContext, 'plan' | 'runState'>,
  reads: readonly ReadResult[],
  { from, to }: BlockRange,
  folder: string,
): Promise<Checkpoint> {
  const checkpoint = await openCheckpoint({
    folder,
    identity: identityOf(plan, { from, to }),
    now: Date.now(),
    onDamage: () => {},
  })
  for (const read of reads) {
    const log = await openReadPages(runState, read)
    const mayMatch: Parameters<PageLog['read']>[0] = ({ blocks, bad, items }) =>
      items > 0 && ((blocks !== null && blocks.max >= from && blocks.min < to) || bad > 0)
    for await (const page of log.read(mayMatch)) await checkpoint.addPage(page.wallet, page)
  }
  return checkpoint
}
