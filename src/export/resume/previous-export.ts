import { join } from 'node:path'
import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { WrittenRange } from '../../checkpoint/checkpoint-state.ts'
import { type Listings, listingsOf } from '../../core/model/listings.ts'
import { type Coverage, type Manifest, REJECTS_FILE } from '../../core/model/manifest.ts'
import type { Job } from '../../core/model/model.ts'
import type { RefusedWallet } from '../../core/model/run-stats.ts'
import { sumUnknownsIfPresent } from '../../core/model/unknowns.ts'
import { readTextIfExists } from '../../core/platform/disk.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import type { FoundExport } from './find-export.ts'

/** What a run goes on from. */
export type PreviousExport = {
  /** Files of blocks before this one stay; the run writes from here on. */
  from: number
  /** The export as it is, whether it stays or not; undefined where there is none that the run goes on from. */
  manifest: Manifest | undefined
  /** What stays, with the transactions in it by wallet. */
  written: readonly WrittenRange[]
  /** Lines of `rejects.ndjson`; those of blocks from `from` on do not stay. */
  rejects: readonly string[]
  /** The files of `before` are as it lists them, so that what changes in them can be told. */
  isComparable: boolean
  /** Blocks up to which the export has wallets that the service refused, exclusive. @default it refused none */
  refusedEnds?: ReadonlyMap<string, number>
}

/** Nothing was exported before, or nothing of it stays. */
export const noPreviousExport = ({ startBlock }: Job, found?: FoundExport): PreviousExport => ({
  from: startBlock,
  manifest: found?.manifest,
  written: [],
  rejects: [],
  isComparable: found !== undefined && isComparable(found),
})

const isComparable = ({ manifest, isBackup, intactTo }: FoundExport) =>
  !isBackup && intactTo === Number.POSITIVE_INFINITY && columnDifferences(manifest).length === 0

/** What a run reads: the job's listings, and those of wallets that left it, in blocks that are written again. */
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
      { from: range.from, to: Math.min(range.to, refusedEnds.get(name) ?? range.to) },
    ]),
  )
}

/** The block up to which the export has each of these wallets, which the service refused in this run. */
export function refusedEndBlocks(
  { startBlock }: Job,
  { manifest }: Pick<PreviousExport, 'manifest'>,
  { refused, checkpoint }: { refused: readonly RefusedWallet[]; checkpoint: Pick<Checkpoint, 'coveredTo'> },
): ReadonlyMap<string, number> {
  const exported = new Map(manifest?.coverage.map(({ address, toBlock }) => [address, toBlock]))
  return new Map(
    refused.map(({ address }) => {
      const readTo = checkpoint.coveredTo(address)
      const end = readTo === Number.POSITIVE_INFINITY ? (exported.get(address) ?? startBlock) : readTo
      return [address, Math.max(startBlock, end)]
    }),
  )
}

/** Whether later runs go on from this export: without endBlock always, with it where the chain had not reached it. */
export function isOpenEnded({ endBlock, kind }: Job, manifest?: Manifest): boolean {
  if (endBlock === undefined) return true
  return kind === 'wallets' && manifest !== undefined && endOfExport(manifest) < endBlock
}

/** What an export has of wallets that left the job. */
export function removedWallets(
  { wallets }: Job,
  { manifest }: Pick<PreviousExport, 'manifest'>,
): readonly Coverage[] {
  const present = new Set(wallets.map(({ address }) => address))
  return manifest?.coverage.filter(({ address }) => !present.has(address)) ?? []
}

/** Whether the manifest has the job's wallets, with their labels, as those that did not leave. */
export function hasSameWallets({ wallets }: Job, { coverage }: Manifest): boolean {
  const present = coverage.filter(({ removed }) => removed !== true)
  const labels = new Map(present.map(({ address, label }) => [address, label]))
  return (
    present.length === wallets.length &&
    wallets.every(({ address, label }) => labels.has(address) && (labels.get(address) ?? null) === label)
  )
}

/** The blocks of an export whose pages are gone; undefined where it lacks a wallet of the job, or blocks of one. */
export function writtenRangeOf(job: Job, manifest: Manifest): WrittenRange | undefined {
  const to = endOfExport(manifest)
  if (commonEndBlock(job, manifest) < to) return undefined
  const seen = manifest.coverage.map(({ address, transactions }) => [address, transactions])
  return { from: job.startBlock, to, seen: Object.fromEntries(seen), ...sumUnknownsIfPresent([manifest]) }
}

/** The block up to which an export has all wallets of the job; those of its wallets that were away for a while lack some. */
function commonEndBlock({ wallets, startBlock }: Job, { coverage }: Manifest): number {
  const ends = new Map(coverage.map(({ address, toBlock }) => [address, toBlock]))
  return wallets.reduce(
    (min, { address }) => Math.min(min, ends.get(address) ?? startBlock),
    Number.POSITIVE_INFINITY,
  )
}

/** One past the last block of an export. */
export function endOfExport({ coverage }: Manifest): number {
  return coverage.reduce((end, { toBlock }) => Math.max(end, toBlock), 0)
}

/** `from`: blocks from this one on are to be written, whatever the export has of them. */
export type ContinueOptions = { checkpoint: Checkpoint; from: number }

/**
 * Where the run begins to write: at the end of the export, or earlier where wallets came to the job or blocks are
 * read again. Only whole stretches stay, which both the manifest and the checkpoint know.
 */
export async function continueExport(
  job: Job,
  found: FoundExport,
  { checkpoint, from: requestedFrom }: ContinueOptions,
): Promise<PreviousExport> {
  const { manifest, intactTo } = found
  const latest = Math.min(requestedFrom, commonEndBlock(job, manifest), intactTo)
  // Files may have been merged over the ends of earlier runs: only their own ends are places to go on from.
  const from = checkpoint.written().findLast(({ to }) => to <= latest && isLookbackStart(manifest, to))?.to
  if (from === undefined) return noPreviousExport(job, found)
  const written = checkpoint.written().filter(({ to }) => to <= from)
  const rejects = (await readTextIfExists(join(job.output, REJECTS_FILE))) ?? ''
  return {
    from,
    manifest,
    written,
    isComparable: isComparable(found),
    rejects: rejects.split('\n').filter((line) => line !== ''),
  }
}

/** True where every file lies wholly before or wholly after this block. */
function isLookbackStart({ tables }: Manifest, block: number): boolean {
  const files = Object.values(tables).flatMap(({ files }) => files)
  return files.every(({ fromBlock, toBlock }) => toBlock <= block || fromBlock >= block)
}
