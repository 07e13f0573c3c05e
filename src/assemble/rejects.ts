import type { Listings } from '../core/listings.ts'
import type { Job } from '../core/model.ts'
import type { BadItem } from '../merge/frame-items.ts'
import { badItemsOfPage } from '../merge/page-source.ts'
import type { Frame } from '../spool/listing.ts'
import type { Spool } from '../spool/spool.ts'
import type { Earlier } from './earlier-export.ts'
import { rejectLine } from './reject-line.ts'
import type { SliceRows } from './write-slice.ts'

/** What this run rejects, each line once: records that slices could not normalize, and items without a place. */
export async function rejectLines(
  { job, spool, earlier, listings }: { job: Job; spool: Spool; earlier: Earlier; listings: Listings },
  slices: readonly SliceRows[],
): Promise<ReadonlySet<string>> {
  const lines = new Set<string>()
  for (const { rejects } of slices) for (const line of rejects) lines.add(line)
  // Pages of earlier runs were told then, unless nothing of what they wrote stays.
  const isOurs = ({ until }: Frame) => earlier.from === job.startBlock || until === Number.POSITIVE_INFINITY
  for (const { item, ...rest } of await badItems(spool.frames(listings).filter(isOurs), spool))
    lines.add(rejectLine(job.chain, { ...rest, transactionHash: null, list: null, record: item }))
  return lines
}

/** Items of these pages that have no place in the chain. */
export async function badItems(frames: readonly Frame[], spool: Spool): Promise<BadItem[]> {
  const items: BadItem[] = []
  for (const { wallet, place, bad } of frames)
    if (bad > 0) items.push(...badItemsOfPage({ wallet, body: await spool.read(place) }))
  return items
}
