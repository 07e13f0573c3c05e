import type { Spool } from '../checkpoint/checkpoint.ts'
import type { Frame } from '../checkpoint/listing-state.ts'
import type { Listings } from '../core/model/listings.ts'
import type { Job } from '../core/model/model.ts'
import { keyOfItem } from '../sources/data-api/parse-item-key.ts'
import { fingerprint, readFingerprints } from './merge/fingerprints.ts'
import { badItemsOfPage } from './merge/page-source.ts'
import type { BadItem } from './merge/record-items.ts'
import { parseReject, rejectLine } from './reject-line.ts'
import type { SliceRows } from './write-batch.ts'

/** What this run rejects, each line once: records that slices could not normalize, and items without a place. */
export async function rejectLines(
  {
    job,
    spool,
    earlier,
    listings,
  }: { job: Job; spool: Spool; earlier: { from: number }; listings: Listings },
  slices: readonly SliceRows[],
): Promise<ReadonlySet<string>> {
  const lines = new Set<string>()
  for (const { rejects } of slices) for (const line of rejects) lines.add(line)
  // Pages of earlier runs were told then, unless nothing of what they wrote stays.
  const isOurs = ({ until }: Frame) => earlier.from === job.startBlock || until === Number.POSITIVE_INFINITY
  for (const { item, ...rest } of await badItems(spool.frames(listings).filter(isOurs), {
    spool,
    chain: job.chain,
  }))
    lines.add(rejectLine(job.chain, { ...rest, transactionHash: null, list: null, record: item }))
  return lines
}

/** Earlier lines that stay: what stands in blocks that were written again was told again if it is still bad. */
export function stayingRejects(
  { rejects, from }: { rejects: readonly string[]; from: number },
  { slices, chain }: { slices: readonly Pick<SliceRows, 'hashes'>[]; chain: string },
): string[] {
  if (rejects.length === 0) return []
  const told = rejects.map((line) => ({ line, ...parseReject(line) }))
  const asked = new Set(told.map(({ transactionHash }) => fingerprint(transactionHash ?? '')))
  const again = new Set<number>()
  for (const { hashes } of slices)
    for (const one of readFingerprints(hashes)) if (asked.has(one)) again.add(one)
  const stays = ({ list, record, transactionHash: hash }: (typeof told)[number]) => {
    const key = list === null ? keyOfItem(record, chain) : ''
    if (typeof key !== 'string') return key.block < from
    return hash === null || !again.has(fingerprint(hash))
  }
  return told.filter(stays).map(({ line }) => line)
}

/** Items of these pages that have no place in the chain. */
export async function badItems(
  frames: readonly Frame[],
  { spool, chain }: { spool: Spool; chain: string },
): Promise<BadItem[]> {
  const items: BadItem[] = []
  for (const { wallet, place, bad } of frames)
    if (bad > 0)
      for (const each of badItemsOfPage({ wallet, body: await spool.read(place), chain })) items.push(each)
  return items
}
