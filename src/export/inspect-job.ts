import { inspectCheckpoint } from '../checkpoint/inspect-checkpoint.ts'
import { atomicListing, BLOCKS } from '../core/model/listings.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { type BlockRange, type Job, NO_END, type Wallet } from '../core/model/model.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import { readManifestIfExists, requireSafeManifest } from '../files/publish.ts'
import { inspectStore } from '../storage/inspect-store.ts'
import { isJobComplete } from './completion.ts'
import { checkpointIdentity, privateFolder } from './private-folder.ts'
import type { FileSizes } from './resume/find-export.ts'

export type JobState = {
  /**
   * `complete`: a run would send no requests. `exported`: files exist, and a run would fetch new or remaining
   * blocks.
   */
  state: 'complete' | 'unfinished' | 'exported' | 'not begun'
  /** Number of pages and items in the checkpoint. */
  pages: number
  items: number
  /** The highest block of these pages; undefined if there is none. */
  head: number | undefined
  /** Remaining block ranges of each wallet. `to` is undefined if the range extends to the head. */
  wallets: (Wallet & { remaining: { from: number; to: number | undefined }[] })[]
  /** Remaining block ranges of the wallets' atomic transactions. Undefined if the job does not read them. */
  atomicRanges?: number
  /** Remaining blocks of a blocks job, in ascending order. */
  blocks: readonly BlockRange[]
  /** Manifest of the existing export, if there is one. */
  manifest: Manifest | undefined
  /** Returns the sizes of the files in the manifest. */
  store: FileSizes
}

/** Inspects a job's output and the remaining blocks without changing anything. Throws OUTPUT_CHANGED. */
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
  const atomic = job.atomic ? { atomicRanges: done ? 0 : countAtomicRanges(job, checkpoint) } : {}
  return { state, pages, items, head, wallets, ...atomic, blocks, manifest, store }
}

function countAtomicRanges(
  { wallets }: Job,
  { remaining }: { remaining: (listing: string) => readonly BlockRange[] },
): number {
  return wallets.reduce((sum, { address }) => sum + remaining(atomicListing(address)).length, 0)
}
