import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { PageRecord } from '../checkpoint/listing-state.ts'
import type { Listings } from '../core/model/listings.ts'
import type { Job } from '../core/model/model.ts'
import { sourceOf } from '../sources/index.ts'
import type { Source } from '../sources/source.ts'
import { fingerprint, readFingerprints } from './merge/fingerprints.ts'
import { type BadItem, badItemsOfPage } from './merge/page-items.ts'
import { parseReject, rejectLine } from './reject-line.ts'
import type { BatchRows } from './write-batch.ts'

/**
 * Returns the rejects of this run, each line once: records that could not be normalized and items without a
 * chain position.
 */
export async function rejectLines(
  {
    job,
    checkpoint,
    previous,
    listings,
  }: { job: Job; checkpoint: Checkpoint; previous: { from: number }; listings: Listings },
  batches: readonly BatchRows[],
): Promise<ReadonlySet<string>> {
  const lines = new Set<string>()
  for (const { rejects } of batches) for (const line of rejects) lines.add(line)
  // Bad items of earlier runs' pages are in the existing `rejects.ndjson`, unless this run rewrites the
  // export from its start.
  const isFromThisRun = ({ validBefore }: PageRecord) =>
    previous.from === job.startBlock || validBefore === Number.POSITIVE_INFINITY
  for (const { item, ...rest } of await badItems(checkpoint.records(listings).filter(isFromThisRun), {
    checkpoint,
    chain: job.chain,
    source: sourceOf(job.service.api),
  }))
    lines.add(rejectLine(job.chain, { ...rest, transactionHash: null, list: null, record: item }))
  return lines
}

/**
 * Returns the existing lines to keep. Lines for blocks or transactions that this run wrote again are dropped:
 * if the record is still bad, the run has rejected it again.
 */
export function retainedRejects(
  { rejects, from }: { rejects: readonly string[]; from: number },
  {
    batches,
    chain,
    source,
  }: { batches: readonly Pick<BatchRows, 'hashes'>[]; chain: string; source: Source },
): string[] {
  if (rejects.length === 0) return []
  const parsed = rejects.map((line) => ({ line, ...parseReject(line) }))
  const candidates = new Set(parsed.map(({ transactionHash }) => fingerprint(transactionHash ?? '')))
  const rewritten = new Set<number>()
  for (const { hashes } of batches)
    for (const hash of readFingerprints(hashes)) if (candidates.has(hash)) rewritten.add(hash)
  const isRetained = ({ list, record, transactionHash: hash }: (typeof parsed)[number]) => {
    const key = list === null ? source.keyOf(record, chain) : ''
    if (typeof key !== 'string') return key.block < from
    return hash === null || !rewritten.has(fingerprint(hash))
  }
  return parsed.filter(isRetained).map(({ line }) => line)
}

/** Returns the items of these pages that have no valid chain position. */
export async function badItems(
  records: readonly PageRecord[],
  { checkpoint, chain, source }: { checkpoint: Checkpoint; chain: string; source: Source },
): Promise<BadItem[]> {
  const items: BadItem[] = []
  for (const { wallet, location, bad } of records)
    if (bad > 0)
      for (const item of badItemsOfPage({ wallet, body: await checkpoint.read(location), chain, source }))
        items.push(item)
  return items
}
