import { join } from 'node:path'
import { inspectAnyCheckpoint, inspectCheckpoint, type Restart } from '../checkpoint/inspect-checkpoint.ts'
import { ExportError, toExportError } from '../core/model/errors.ts'
import { atomicListing, BLOCKS } from '../core/model/listings.ts'
import { completeEnd, endOfExport, type Manifest, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import { type BlockRange, type Job, NO_END, type Wallet } from '../core/model/model.ts'
import { type IncompleteWallet, incompleteWallets, type RefusedWallet } from '../core/model/run-stats.ts'
import { sumUnknowns } from '../core/model/unknowns.ts'
import { emptyWalletsIn, removedWalletsIn, type WalletSample } from '../core/model/wallet-sample.ts'
import { holderOf } from '../core/platform/lock/lock.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import { readManifestIfExists, requireSafeManifest } from '../files/publish.ts'
import type { TableState } from '../iceberg/index.ts'
import { readManifestIfAny } from '../read/dataset.ts'
import { readReconciliation, type StoredReconciliation } from '../read/read-reconciliation.ts'
import { outputName } from '../storage/bucket-url.ts'
import { inspectStore } from '../storage/open-store.ts'
import { type PastRun, readPastRuns } from './history/past-runs.ts'
import { checkpointIdentity, isJobComplete, privateFolder } from './private-folder.ts'
import { areFilesInPlace, type FileSizes } from './resume/find-export.ts'

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

/**
 * Inspects a job's output and the remaining blocks without changing anything. Throws OUTPUT_CHANGED.
 *
 * @param restart what the next run is asked to read again
 */
export async function inspectJob(job: Job, restart: Restart = {}): Promise<JobState> {
  const store = await inspectStore(job)
  await assertNoSpecialEntries(job.output, 'VERIFY_FAILED')
  await requireSafeManifest(job.output)
  const manifest = await readManifestIfExists(job.output)
  const checkpoint = await inspectCheckpoint(privateFolder(job), checkpointIdentity(job), restart)
  const { fresh = false } = restart
  const done = !fresh && !checkpoint.hasRun && (await isJobComplete(job, store))
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
      : fresh || manifest === undefined
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

/** The status of an output, determined without reading its rows. */
export type OutputStatus = {
  /** The name of the job; null if it is unknown because there is no manifest. */
  job: string | null
  output: string
  state: JobState['state']
  /** Time at which a command that changes the output locked it (ISO time); null if it is not locked. */
  inUseSince: string | null
  chain: string | null
  /** Blocks of the export, half-open; null if nothing is exported. */
  blocks: BlockRange | null
  /** ISO times from run reports; null if no report has them. */
  firstTransactionAt: string | null
  lastTransactionAt: string | null
  /** Number of wallets in the job. */
  wallets: number
  emptyWallets: WalletSample
  removedWallets: WalletSample
  /** Rows, files and bytes according to the manifest. */
  rows: number
  files: number
  bytes: number
  tables: Record<string, { rows: number; files: number; bytes: number }>
  /** Whether every file of the manifest exists with the listed size; null if nothing is exported. */
  filesInPlace: boolean | null
  rejects: number
  /** Transactions with unknown status, and transactions sent by own wallets with an unknown or zero fee, or an upper bound. */
  statusUnknown: number
  feeUnknown: number
  feesUpperBound: number
  /** Contracts whose rows disagree on the decimals of a token. */
  decimalsConflict: number
  /** Blocks of a blocks job that the service did not have. */
  missing: readonly BlockRange[]
  /** Wallets whose listing the service refused in the last run. */
  refusedWallets: readonly RefusedWallet[]
  /** Wallets with blocks that the service could not list completely. */
  incompleteWallets: readonly IncompleteWallet[]
  /** The job's endBlock if it was not indexed when a wallet was read; null if it was, or if there is no endBlock. */
  notReached: number | null
  /** Exclusive end up to which every wallet is complete that the service did not refuse; null if nothing is exported. */
  completeTo: number | null
  /** Contents of the checkpoint of an unfinished run. */
  unfinished: { pages: number; transactions: number } | null
  /** Current snapshots of Iceberg tables, or why they are unknown; null if the tables are plain files. */
  iceberg: { tables: readonly TableState[]; error: string | null } | null
  /** The verdict of the last `reconcile`; null if there is none. */
  reconciliation: ReconciliationSummary | null
  /** The newest run that has a report. */
  lastRun: PastRun | null
}

/** A verdict without its lists. */
type ReconciliationSummary = Omit<StoredReconciliation, 'differences' | 'files' | 'opening' | 'reconciled'>

/** Returns the status of a job's output. Throws OUTPUT_CHANGED if its checkpoint belongs to another job. */
export async function inspectJobOutput(job: Job): Promise<OutputStatus & { inspected: JobState }> {
  const inspected = await inspectJob(job)
  const { state, store, manifest } = inspected
  // `inspectJob` has already checked the files of a complete export.
  const filesInPlace = state === 'complete' || (await areFilesInPlaceIfAny(store, manifest))
  const status = await describe({ ...inspected, output: job.output, location: job.store, filesInPlace })
  return {
    ...status,
    output: outputName(job),
    job: job.name,
    chain: job.chain,
    wallets: job.wallets.length,
    inspected,
  }
}

/**
 * Returns the status of an output without knowing its job. Throws USAGE if it contains neither an export nor a report
 * of a run, VERIFY_FAILED if its manifest is damaged.
 */
export async function inspectOutput(location: Pick<Job, 'output' | 'store'>): Promise<OutputStatus> {
  const { output } = location
  const store = await inspectStore(location)
  const manifest = await readManifestIfAny(output)
  const checkpoint = await inspectAnyCheckpoint(join(output, PRIVATE_FOLDER)).catch(ignoreAccessDenied)
  const isEmpty = manifest === undefined && checkpoint === undefined
  if (isEmpty && (await readPastRuns(output)).length === 0)
    throw new ExportError('USAGE', `${output} holds no export`, {
      fix: 'Name the output folder of a run, such as output/mine, or its job file.',
    })
  const isUnfinished = checkpoint?.hasRun && !checkpoint.isDone
  const filesInPlace = await areFilesInPlaceIfAny(store, manifest)
  const isComplete = manifest?.job.endBlock !== null && unreachedEndBlock(manifest) === null
  const written = filesInPlace && isComplete ? 'complete' : 'exported'
  const { pages = 0, items = 0 } = checkpoint ?? {}
  const state = isEmpty ? 'not begun' : isUnfinished ? 'unfinished' : written
  const files = { output, location: location.store, filesInPlace }
  const status = await describe({ ...files, state, pages, items, manifest })
  return { ...status, output: outputName(location) }
}

/** Only the owner can read a checkpoint. Other users get the status of the published files. */
function ignoreAccessDenied(thrown: unknown): undefined {
  const { cause } = thrown as ExportError
  if ((cause as NodeJS.ErrnoException | undefined)?.code !== 'EACCES') throw thrown
}

/** Whether every file of the manifest is in place; null if there is no manifest. */
async function areFilesInPlaceIfAny(
  store: FileSizes,
  manifest: Manifest | undefined,
): Promise<boolean | null> {
  return manifest === undefined ? null : areFilesInPlace(store, manifest)
}

type Inspected = Pick<JobState, 'state' | 'pages' | 'items' | 'manifest'> &
  Pick<OutputStatus, 'output' | 'filesInPlace'> & { location: Job['store'] }

async function describe(inspected: Inspected): Promise<OutputStatus> {
  const { output, state, pages, items, manifest, filesInPlace } = inspected
  const runs = await readPastRuns(output)
  const blocks = manifest === undefined ? null : blocksOf(manifest)
  const coverage = manifest?.coverage ?? []
  return {
    job: manifest?.job.name ?? null,
    output,
    state,
    inUseSince: (await holderOf(join(output, PRIVATE_FOLDER)))?.startedAt ?? null,
    chain: manifest?.job.chain ?? null,
    blocks,
    ...timesOf(runs, { blocks, chain: manifest?.job.chain }),
    wallets: coverage.filter(({ removed }) => removed !== true).length,
    emptyWallets: emptyWalletsIn(coverage),
    removedWallets: removedWalletsIn(coverage),
    ...sizesOf(manifest),
    filesInPlace,
    rejects: manifest?.rejects ?? 0,
    ...sumUnknowns(manifest === undefined ? [] : [manifest]),
    decimalsConflict: manifest?.decimalsConflict ?? 0,
    missing: (manifest?.blocks?.missing ?? []).map(({ fromBlock, toBlock }) => ({
      from: fromBlock,
      to: toBlock,
    })),
    refusedWallets: coverage.flatMap(({ address, error }) =>
      error === undefined ? [] : [{ address, error }],
    ),
    incompleteWallets: incompleteWallets({ coverage }),
    notReached: unreachedEndBlock(manifest),
    completeTo: manifest === undefined || manifest.blocks !== undefined ? null : completeEnd(manifest),
    unfinished: state === 'unfinished' ? { pages, transactions: items } : null,
    iceberg: await inspectIceberg(inspected),
    reconciliation: summarize(await readReconciliation(output)),
    lastRun: runs[0] ?? null,
  }
}

async function inspectIceberg({ output, location, manifest }: Inspected): Promise<OutputStatus['iceberg']> {
  if (manifest?.job.table !== 'iceberg') return null
  const { inspectTables } = await import('../iceberg/index.ts')
  return inspectTables({ output, store: location }, manifest).then(
    (tables) => ({ tables, error: null }),
    (thrown: unknown) => ({ tables: [], error: toExportError(thrown).message }),
  )
}

function summarize(verdict: StoredReconciliation | undefined): ReconciliationSummary | null {
  if (verdict === undefined) return null
  const { differences: _, files: _files, opening: _opening, reconciled: _reconciled, ...summary } = verdict
  return summary
}

/** Returns the job's endBlock if it was not indexed when a wallet was read, otherwise null. */
function unreachedEndBlock(manifest: Manifest | undefined): number | null {
  if (manifest === undefined || manifest.blocks !== undefined) return null
  const { endBlock } = manifest.job
  return endBlock !== null && completeEnd(manifest) < endBlock ? endBlock : null
}

function blocksOf(manifest: Manifest): BlockRange {
  const { blocks, job } = manifest
  if (blocks !== undefined) return { from: blocks.fromBlock, to: blocks.toBlock }
  return { from: job.startBlock, to: endOfExport(manifest) }
}

type ExportedRange = { blocks: BlockRange | null; chain: string | undefined }

/**
 * Returns the times of the first and last transaction, from the reports of the runs that wrote these blocks.
 */
function timesOf(runs: readonly PastRun[], { blocks, chain }: ExportedRange) {
  const same = runs.filter((run) => run.chain === chain && run.error === null)
  const first = same.find(({ fromBlock }) => blocks !== null && fromBlock === blocks.from)
  const last = same.find(({ toBlock }) => blocks !== null && toBlock === blocks.to)
  return {
    firstTransactionAt: first?.firstTransactionAt ?? null,
    lastTransactionAt: last?.lastTransactionAt ?? null,
  }
}

function sizesOf(manifest: Manifest | undefined): Pick<OutputStatus, 'rows' | 'files' | 'bytes' | 'tables'> {
  const tables = Object.entries(manifest?.tables ?? {}).map(
    ([name, { rows, files }]) =>
      [name, { rows, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }] as const,
  )
  const total = { rows: 0, files: 0, bytes: 0 }
  for (const [, { rows, files, bytes }] of tables) {
    total.rows += rows
    total.files += files
    total.bytes += bytes
  }
  return { ...total, tables: Object.fromEntries(tables) }
}
