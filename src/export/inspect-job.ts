import { inspectCheckpoint } from '../checkpoint/inspect-checkpoint.ts'
import { BLOCKS } from '../core/model/listings.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { type BlockRange, type Job, NO_END, type Wallet } from '../core/model/model.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import { readManifestIfExists, requireSafeManifest } from '../files/publish.ts'
import { inspectStore } from '../storage/inspect-store.ts'
import { isJobComplete } from './completion.ts'
import { checkpointIdentity, privateFolder } from './private-folder.ts'
import type { FileSizes } from './resume/find-export.ts'

export type JobState = {
  /** `complete`: a run would ask nothing. `exported`: files are there, and a run would export anew. */
  state: 'complete' | 'unfinished' | 'exported' | 'not begun'
  /** Pages and items kept of an unfinished run. */
  pages: number
  items: number
  /** The highest block of these pages; undefined where there was none. */
  head: number | undefined
  /** Ranges still to be asked; `to` is undefined where it is the head. */
  wallets: (Wallet & { remaining: { from: number; to: number | undefined }[] })[]
  /** Blocks still to be asked of a job of blocks, in order. */
  blocks: readonly BlockRange[]
  /** Of what was exported before, if anything was. */
  manifest: Manifest | undefined
  /** Tells the bytes of the files that it lists. */
  store: FileSizes
}

/** What a job's output holds and what a run would still ask; changes nothing. Throws OUTPUT_CHANGED. */
export async function inspectJob(job: Job): Promise<JobState> {
  const store = await inspectStore(job)
  await assertNoSpecialEntries(job.output, 'VERIFY_FAILED')
  await requireSafeManifest(job.output)
  const manifest = await readManifestIfExists(job.output)
  const checkpoint = await inspectCheckpoint(privateFolder(job), checkpointIdentity(job))
  const done = !checkpoint.hasRun && (await isJobComplete(job, store))
  const wallets = job.wallets.map((wallet) => ({
    ...wallet,
    remaining: done
      ? []
      : checkpoint
          .remaining(wallet.address)
          .map(({ from, to }) => ({ from, to: to === NO_END ? undefined : to })),
  }))
  const state = done
    ? 'complete'
    : checkpoint.hasRun && !checkpoint.isDone
      ? 'unfinished'
      : manifest === undefined
        ? 'not begun'
        : 'exported'
  const blocks = done || job.kind === 'wallets' ? [] : checkpoint.remaining(BLOCKS)
  const { pages, items, head } = checkpoint
  return { state, pages, items, head, wallets, blocks, manifest, store }
}
