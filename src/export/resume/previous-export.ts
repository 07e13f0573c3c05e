import { join } from 'node:path'
import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { EarlierExport, WrittenRange } from '../../checkpoint/checkpoint-state.ts'
import { atomicListing, type Listings, listingsOf, walletOf } from '../../core/model/listings.ts'
import {
  type Coverage,
  completeEnd,
  endOfExport,
  type Manifest,
  REJECTS_FILE,
  rowsEndOf,
} from '../../core/model/manifest.ts'
import type { Job } from '../../core/model/model.ts'
import type { RefusedWallet, RunStats } from '../../core/model/run-stats.ts'
import { sumUnknownsIfPresent } from '../../core/model/unknowns.ts'
import { readTextIfExists } from '../../core/platform/disk.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import { type ExistingExport, findChangedSettings } from './find-export.ts'

/** The export that a run continues. */
export type PreviousExport = {
  /** The run writes from this block on. Files of earlier blocks are retained. */
  from: number
  /** Manifest of the existing export, whether any of it is retained or not; undefined if there is none. */
  manifest: Manifest | undefined
  /** Retained ranges, with their number of transactions by wallet. */
  written: readonly WrittenRange[]
  /** Lines of `rejects.ndjson`, including those of blocks that are written again. */
  rejects: readonly string[]
  /** Whether the files are as the manifest lists them, so that changes can be determined. */
  isComparable: boolean
  /**
   * By wallet that the service refused in this run, the exclusive end of its blocks in the export. @default none
   * refused
   */
  refusedEnds?: ReadonlyMap<string, number>
}

/** A previous export of which nothing is retained, or none at all. */
export const noPreviousExport = ({ startBlock }: Job, existing?: ExistingExport): PreviousExport => ({
  from: startBlock,
  manifest: existing?.manifest,
  written: [],
  rejects: [],
  isComparable: existing !== undefined && isComparable(existing),
})

const isComparable = ({ manifest, isBackup, intactTo }: ExistingExport) =>
  !isBackup && intactTo === Number.POSITIVE_INFINITY && columnDifferences(manifest).length === 0

/**
 * Returns the listings that a run reads: those of the job, and those of removed wallets in blocks that are
 * written again.
 */
export function listingsToRead(job: Job, previous: PreviousExport): Listings {
  const { from, refusedEnds = new Map<string, number>() } = previous
  const removed = removedWallets(job, previous).filter(({ toBlock }) => toBlock > from)
  const all = listingsOf(
    job,
    new Map(removed.map(({ address, toBlock }) => [address, { from, to: toBlock }])),
  )
  return new Map(
    [...all].map(([name, range]) => [
      name,
      { from: range.from, to: Math.min(range.to, refusedEnds.get(walletOf(name)) ?? range.to) },
    ]),
  )
}

/**
 * Returns, for each wallet that the service refused in this run, the exclusive end of its blocks in the export.
 */
export function refusedEndBlocks(
  { startBlock, atomic }: Job,
  { manifest }: Pick<PreviousExport, 'manifest'>,
  { refused, checkpoint }: { refused: readonly RefusedWallet[]; checkpoint: Pick<Checkpoint, 'coveredTo'> },
): ReadonlyMap<string, number> {
  const exported = new Map(manifest?.coverage.map(({ address, toBlock }) => [address, toBlock]))
  return new Map(
    refused.map(({ address }) => {
      const atomicTo = atomic ? checkpoint.coveredTo(atomicListing(address)) : Number.POSITIVE_INFINITY
      const readTo = Math.min(checkpoint.coveredTo(address), atomicTo)
      const end = readTo === Number.POSITIVE_INFINITY ? (exported.get(address) ?? startBlock) : readTo
      return [address, Math.max(startBlock, end)]
    }),
  )
}

/** Whether later runs continue this export: the job has no endBlock, or the chain had not reached it. */
export function isOpenEnded({ endBlock, kind }: Job, manifest?: Manifest): boolean {
  if (endBlock === undefined) return true
  return kind === 'wallets' && manifest !== undefined && completeEnd(manifest) < endBlock
}

/** Returns the wallets that are in the export but no longer in the job, each with the end of its rows. */
export function removedWallets(
  { wallets }: Job,
  { manifest }: Pick<PreviousExport, 'manifest'>,
): readonly Coverage[] {
  if (manifest === undefined) return []
  const present = new Set(wallets.map(({ address }) => address))
  const removed = manifest.coverage.filter(({ address }) => !present.has(address))
  return removed.map((wallet) => ({ ...wallet, toBlock: rowsEndOf(wallet, manifest) }))
}

/** Whether the manifest has exactly the job's wallets, with their labels, apart from removed wallets. */
export function hasSameWallets({ wallets }: Job, { coverage }: Manifest): boolean {
  const present = coverage.filter(({ removed }) => removed !== true)
  const labels = new Map(present.map(({ address, label }) => [address, label]))
  return (
    present.length === wallets.length &&
    wallets.every(({ address, label }) => labels.has(address) && (labels.get(address) ?? null) === label)
  )
}

/**
 * Returns the range of an export without a checkpoint, so that a new run can start at its end. Returns
 * undefined if the export lacks a wallet of the job, or blocks of one.
 */
export function writtenRangeOf(job: Job, manifest: Manifest): EarlierExport | undefined {
  const { coverage } = manifest
  const to = endOfExport(manifest)
  if (commonEndBlock(job, manifest) < to) return undefined
  const seen = coverage.map(({ address, transactions }) => [address, transactions])
  const lagging = coverage.filter(({ toBlock }) => toBlock < to)
  const indexedTo = Object.fromEntries(lagging.map(({ address, toBlock }) => [address, toBlock]))
  const { decimalsConflict } = manifest
  const written = { from: job.startBlock, to, seen: Object.fromEntries(seen), decimalsConflict }
  return { ...written, ...sumUnknownsIfPresent([manifest]), ...(lagging.length > 0 ? { indexedTo } : {}) }
}

/**
 * Returns the exclusive end up to which the rows of all wallets of the job are written. Those of a wallet that was
 * removed for a while, or that the service refused, end earlier.
 */
function commonEndBlock(
  { wallets, startBlock }: Job,
  manifest: Pick<Manifest, 'coverage' | 'tables'>,
): number {
  const end = endOfExport(manifest)
  const ends = new Map(
    manifest.coverage.map(({ address, toBlock, error, removed }) => [
      address,
      error === undefined && removed !== true ? end : toBlock,
    ]),
  )
  return wallets.reduce(
    (min, { address }) => Math.min(min, ends.get(address) ?? startBlock),
    Number.POSITIVE_INFINITY,
  )
}

/** Like `commonEndBlock`, for the wallets that the service did not refuse. */
function commonEndOfAnswered(job: Job, manifest: Manifest): number {
  const { coverage } = manifest
  const refused = new Set(coverage.flatMap(({ address, error }) => (error === undefined ? [] : [address])))
  const wallets = job.wallets.filter(({ address }) => !refused.has(address))
  return commonEndBlock({ ...job, wallets }, manifest)
}

/** Whether the service refuses the same wallets as in the previous run, and no more of their blocks are known. */
export function areSameRefusals({ manifest, refusedEnds }: PreviousExport): boolean {
  const exported = manifest?.coverage.filter(({ error }) => error !== undefined) ?? []
  return (
    exported.length === (refusedEnds?.size ?? 0) &&
    exported.every(({ address, toBlock }) => refusedEnds?.get(address) === toBlock)
  )
}

export type ContinueOptions = {
  checkpoint: Checkpoint
  /** Blocks from this one on must be written again even if the export has them. */
  from: number
  /** Whether the wallets that the service refused in the previous run are refused again. @default false */
  areRefusedAgain?: boolean
}

/**
 * Determines the block from which a run writes: the end of the export, or an earlier block if wallets were
 * added to the job, files are damaged, or blocks are read again. Only complete ranges that both manifest and
 * checkpoint know are retained.
 */
export async function continueExport(
  job: Job,
  existing: ExistingExport,
  { checkpoint, from: requestedFrom, areRefusedAgain = false }: ContinueOptions,
): Promise<PreviousExport> {
  const { manifest, intactTo } = existing
  const commonEnd = areRefusedAgain ? commonEndOfAnswered(job, manifest) : commonEndBlock(job, manifest)
  const latest = Math.min(requestedFrom, commonEnd, intactTo)
  // Files of several runs may have been compacted into one, so a run can only continue at the end of a file.
  const from = checkpoint.written().findLast(({ to }) => to <= latest && isLookbackStart(manifest, to))?.to
  if (from === undefined) return noPreviousExport(job, existing)
  const written = checkpoint.written().filter(({ to }) => to <= from)
  const rejects = (await readTextIfExists(join(job.output, REJECTS_FILE), Number.POSITIVE_INFINITY)) ?? ''
  return {
    from,
    manifest,
    written,
    isComparable: isComparable(existing),
    rejects: rejects.split('\n').filter((line) => line !== ''),
  }
}

/** Whether no file spans this block: each ends at or before it, or begins at or after it. */
function isLookbackStart({ tables }: Manifest, block: number): boolean {
  const files = Object.values(tables).flatMap(({ files }) => files)
  return files.every(({ fromBlock, toBlock }) => toBlock <= block || fromBlock >= block)
}

/**
 * Returns the exclusive end of each wallet's coverage: the service had indexed the blocks before it when it answered for
 * the wallet, in each of its listings.
 */
export function indexedEnds(
  { wallets, atomic }: Pick<Job, 'wallets' | 'atomic'>,
  { indexedTo }: Pick<Checkpoint, 'indexedTo'>,
): ReadonlyMap<string, number> {
  return new Map(
    wallets.map(({ address }) => [
      address,
      atomic ? Math.min(indexedTo(address), indexedTo(atomicListing(address))) : indexedTo(address),
    ]),
  )
}

/** Returns the exclusive end up to which all wallets are complete, apart from those that the service refused. */
export function completeTo(
  ends: ReadonlyMap<string, number>,
  { end, refused }: { end: number; refused: readonly RefusedWallet[] },
): number {
  const names = new Set(refused.map(({ address }) => address))
  return [...ends].reduce((min, [address, to]) => (names.has(address) ? min : Math.min(min, to)), end)
}

/** Whether the wallets that the service answered are complete up to the same blocks as in the manifest. */
export const coversSame = ({ coverage }: Manifest, ends: ReadonlyMap<string, number>): boolean =>
  coverage.every(
    ({ address, toBlock, error }) => error !== undefined || toBlock === (ends.get(address) ?? toBlock),
  )

/** Whether the manifest has the job's settings and wallets, and the same refusals as this run. */
export function manifestMatchesJob(
  manifest: Manifest,
  { job, stats: { refused } }: { job: Job; stats: Pick<RunStats, 'refused'> },
): boolean {
  const exportedErrors = new Map(manifest.coverage.map(({ address, error }) => [address, error]))
  const refusals = [...exportedErrors.values()].filter((error) => error !== undefined)
  return (
    findChangedSettings(job, manifest).length === 0 &&
    hasSameWallets(job, manifest) &&
    refusals.length === refused.length &&
    refused.every(({ address, error }) => exportedErrors.get(address) === error)
  )
}
