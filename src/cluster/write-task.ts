import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { PageLog } from '../checkpoint/inspect-checkpoint.ts'
import { openCheckpoint } from '../checkpoint/open-checkpoint.ts'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { newRunStats, type RunStats } from '../core/model/run-stats.ts'
import { hashFile } from '../core/platform/disk.ts'
import { createScratchFolder } from '../core/platform/scratch-folder.ts'
import { fixedFees } from '../export/fees/fee-resolver.ts'
import { openOutputWriter } from '../export/output-writer.ts'
import type { PreviousExport } from '../export/resume/previous-export.ts'
import { readManifestIfExists } from '../files/publish.ts'
import { folderStore } from '../storage/store.ts'
import { fingerprintBytes, readFingerprints } from '../transform/merge/fingerprints.ts'
import type { Plan } from './plan.ts'
import { openReadPages } from './read-pages.ts'
import { type ReadResult, type ReadSelection, refusedWallets, requireSelection } from './read-results.ts'
import { identityOf, type TaskContext } from './read-task.ts'
import { removeDamaged } from './remove-damaged.ts'
import { loadRunFees } from './run-fees.ts'
import { addResult, putPartition, type RunState, requireCurrentAttempt } from './run-state.ts'
import type { WriteTask } from './task.ts'
import { WRITE_RESULTS, type WriteResult } from './write-results.ts'

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
  } catch (thrown) {
    await removeDamaged({ plan, runState }, { selection, writes: [] }, thrown)
    throw thrown
  }
}

async function makePartition(
  { plan, runState, requestContext }: TaskContext,
  task: WriteTask,
  selection: ReadSelection,
): Promise<void> {
  const scratch = await createScratchFolder('partition')
  const folder = join(scratch, 'export')
  const range = { startBlock: task.from, endBlock: task.to }
  const job: Job = { ...plan.job, ...range, output: folder, store: undefined }
  const stats = newRunStats(job.wallets.length, Date.now())
  try {
    const checkpoint = await gatherPages(
      { runState, plan, job, folder: join(scratch, 'pages') },
      selection.reads,
    )
    const fingerprints = join(scratch, 'fingerprints')
    let findings: PartitionFindings
    try {
      findings = await writePartition({
        job,
        plan,
        runState,
        selection,
        checkpoint,
        stats,
        fingerprints,
        signal: requestContext.signal,
      })
    } finally {
      await checkpoint.close()
    }
    const manifest = await readManifestIfExists(folder)
    if (manifest === undefined) throw new ExportError('BUG', 'a partition was made without a manifest')
    const planFields = { attempt: plan.attempt, plan: plan.sha256, from: task.from, to: task.to }
    const hashes = {
      manifest: await hashFile(join(folder, MANIFEST_FILE)),
      fingerprints: await hashFile(fingerprints),
    }
    const resultFields = {
      ...findings,
      ...hashes,
      reading: selection.sha256,
      repeatedLogs: stats.repeatedLogs,
    }
    await addResult(runState, async (token) => {
      await putPartition(runState, token, { folder, manifest, fingerprints })
      await WRITE_RESULTS.put(runState, {
        ...planFields,
        ...resultFields,
        token,
        times: stats.written?.times ?? null,
      })
    })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

type PartitionContext = {
  job: Job
  runState: RunState
  plan: Plan
  selection: ReadSelection
  checkpoint: Checkpoint
  stats: RunStats
  /** File that receives the fingerprints of the transactions. */
  fingerprints: string
  signal: AbortSignal
}

type PartitionFindings = Pick<WriteResult, 'contradicted' | 'contradictions' | 'decimals'>

async function writePartition({
  job,
  plan,
  runState,
  selection,
  fingerprints,
  ...writing
}: PartitionContext): Promise<PartitionFindings> {
  const { startBlock, endBlock = startBlock } = job
  // Rows of removed wallets are built like those of the others, up to the block to which they were read.
  const previous: PreviousExport = {
    from: startBlock,
    manifest: plan.before,
    written: [],
    rejects: [],
    isComparable: false,
    refusedEnds: refusedEnds(plan, selection),
  }
  const fees = fixedFees(await loadRunFees({ plan, runState }, selection))
  const output = await openOutputWriter({ ...writing, job, store: folderStore(job.output), previous, fees })
  try {
    const { hashes, contradicted, contradictions } = await output.merge(endBlock)
    await appendFile(fingerprints, '')
    for (const one of hashes) await appendFile(fingerprints, fingerprintBytes([...readFingerprints(one)]))
    const { decimals = {} } = await output.finish(endBlock)
    return {
      decimals,
      contradicted,
      contradictions: contradictions.flatMap(({ views }) => views).slice(0, MAX_CONTRADICTIONS),
    }
  } finally {
    await output.close()
  }
}

/** The blocks up to which refused wallets were read. */
function refusedEnds(plan: Plan, { reads }: ReadSelection): ReadonlyMap<string, number> {
  return new Map(refusedWallets(plan, reads).map(({ address, toBlock }) => [address, toBlock]))
}

/** Maximum number of listing positions of contradictions per partition. */
const MAX_CONTRADICTIONS = 1_000

type GatherOptions = { runState: RunState; plan: Plan; job: Job; folder: string }

/**
 * Collects the pages that may contain items of the partition's blocks, and all pages with items that have no
 * position.
 */
async function gatherPages(
  { runState, plan, job, folder }: GatherOptions,
  reads: readonly ReadResult[],
): Promise<Checkpoint> {
  const { startBlock: from, endBlock: to = from } = job
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
