import { join } from 'node:path'
import type { Spool } from '../../checkpoint/checkpoint.ts'
import type { Written } from '../../checkpoint/checkpoint-state.ts'
import { type Listings, listingsOf } from '../../core/model/listings.ts'
import { type Coverage, type Manifest, REJECTS_FILE } from '../../core/model/manifest.ts'
import type { Job } from '../../core/model/model.ts'
import type { RefusedWallet } from '../../core/model/run-stats.ts'
import { sumIfCounted } from '../../core/model/unknowns.ts'
import { readTextIfAny } from '../../core/platform/disk.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import type { FoundExport } from './find-export.ts'

/** What a run goes on from. */
export type Earlier = {
  /** Files of blocks before this one stay; the run writes from here on. */
  from: number
  /** The export as it is, whether it stays or not; undefined where there is none that the run goes on from. */
  before: Manifest | undefined
  /** What stays, with the transactions in it by wallet. */
  written: readonly Written[]
  /** Lines of `rejects.ndjson`; those of blocks from `from` on do not stay. */
  rejects: readonly string[]
  /** The files of `before` are as it lists them, so that what changes in them can be told. */
  isComparable: boolean
  /** Blocks up to which the export has wallets that the service refused, exclusive. @default it refused none */
  ends?: ReadonlyMap<string, number>
}

/** Nothing was exported before, or nothing of it stays. */
export const nothingEarlier = ({ startBlock }: Job, found?: FoundExport): Earlier => ({
  from: startBlock,
  before: found?.manifest,
  written: [],
  rejects: [],
  isComparable: found !== undefined && isComparable(found),
})

const isComparable = ({ manifest, isSetAside, intactTo }: FoundExport) =>
  !isSetAside && intactTo === Number.POSITIVE_INFINITY && columnDifferences(manifest).length === 0

/** What a run reads: the job's listings, and those of wallets that left it, in blocks that are written again. */
export function listingsToRead(job: Job, earlier: Earlier): Listings {
  const { from, ends = new Map<string, number>() } = earlier
  const again = leftWallets(job, earlier).filter(({ toBlock }) => toBlock > from)
  const all = listingsOf(job, new Map(again.map(({ address, toBlock }) => [address, { from, to: toBlock }])))
  return new Map(
    [...all].map(([name, range]) => [
      name,
      { from: range.from, to: Math.min(range.to, ends.get(name) ?? range.to) },
    ]),
  )
}

/** The block up to which the export has each of these wallets, which the service refused in this run. */
export function endsOfRefused(
  { startBlock }: Job,
  { before }: Pick<Earlier, 'before'>,
  { refused, spool }: { refused: readonly RefusedWallet[]; spool: Pick<Spool, 'coveredTo'> },
): ReadonlyMap<string, number> {
  const exported = new Map(before?.coverage.map(({ address, toBlock }) => [address, toBlock]))
  return new Map(
    refused.map(({ address }) => {
      const read = spool.coveredTo(address)
      const end = read === Number.POSITIVE_INFINITY ? (exported.get(address) ?? startBlock) : read
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
export function leftWallets({ wallets }: Job, { before }: Pick<Earlier, 'before'>): readonly Coverage[] {
  const present = new Set(wallets.map(({ address }) => address))
  return before?.coverage.filter(({ address }) => !present.has(address)) ?? []
}

/** Whether the manifest has the job's wallets, with their labels, as those that did not leave. */
export function namesWalletsOf({ wallets }: Job, { coverage }: Manifest): boolean {
  const present = coverage.filter(({ removed }) => removed !== true)
  const labels = new Map(present.map(({ address, label }) => [address, label]))
  return (
    present.length === wallets.length &&
    wallets.every(({ address, label }) => labels.has(address) && (labels.get(address) ?? null) === label)
  )
}

/** The blocks of an export whose pages are gone; undefined where it lacks a wallet of the job, or blocks of one. */
export function writtenBefore(job: Job, manifest: Manifest): Written | undefined {
  const to = endOfExport(manifest)
  if (coveredByAll(job, manifest) < to) return undefined
  const seen = manifest.coverage.map(({ address, transactions }) => [address, transactions])
  return { from: job.startBlock, to, seen: Object.fromEntries(seen), ...sumIfCounted([manifest]) }
}

/** The block up to which an export has all wallets of the job; those of its wallets that were away for a while lack some. */
function coveredByAll({ wallets, startBlock }: Job, { coverage }: Manifest): number {
  const ends = new Map(coverage.map(({ address, toBlock }) => [address, toBlock]))
  return wallets.reduce(
    (least, { address }) => Math.min(least, ends.get(address) ?? startBlock),
    Number.POSITIVE_INFINITY,
  )
}

/** One past the last block of an export. */
export function endOfExport({ coverage }: Manifest): number {
  return coverage.reduce((end, { toBlock }) => Math.max(end, toBlock), 0)
}

/** `from`: blocks from this one on are to be written, whatever the export has of them. */
export type Continuing = { spool: Spool; from: number }

/**
 * Where the run begins to write: at the end of the export, or earlier where wallets came to the job or blocks are
 * read again. Only whole stretches stay, which both the manifest and the checkpoint know.
 */
export async function continueExport(
  job: Job,
  found: FoundExport,
  { spool, from: asked }: Continuing,
): Promise<Earlier> {
  const { manifest, intactTo } = found
  const most = Math.min(asked, coveredByAll(job, manifest), intactTo)
  // Files may have been merged over the ends of earlier runs: only their own ends are places to go on from.
  const from = spool.written().findLast(({ to }) => to <= most && isBorder(manifest, to))?.to
  if (from === undefined) return nothingEarlier(job, found)
  const written = spool.written().filter(({ to }) => to <= from)
  const rejects = (await readTextIfAny(join(job.output, REJECTS_FILE))) ?? ''
  return {
    from,
    before: manifest,
    written,
    isComparable: isComparable(found),
    rejects: rejects.split('\n').filter((line) => line !== ''),
  }
}

/** True where every file lies wholly before or wholly after this block. */
function isBorder({ tables }: Manifest, block: number): boolean {
  const files = Object.values(tables).flatMap(({ files }) => files)
  return files.every(({ fromBlock, toBlock }) => toBlock <= block || fromBlock >= block)
}
