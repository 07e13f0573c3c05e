import { rm } from 'node:fs/promises'
import type { Spool } from '../checkpoint/checkpoint.ts'
import { openSpool } from '../checkpoint/open-checkpoint.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Figures } from '../core/model/run-stats.ts'
import { hashFile } from '../core/platform/disk.ts'
import { makeScratch } from '../core/platform/scratch-folder.ts'
import { headBefore } from '../export/fetch/find-end.ts'
import { isRefusal, type Refusals, wordsOfRefusal } from '../export/fetch/wallet-refusals.ts'
import type { Requester } from '../http/request.ts'
import { readRange } from '../sources/data-api/pages/read-range.ts'
import { noteStarts, type PartitionStarts } from './partition-starts.ts'
import { type Plan, type PlannedWallet, walletsOf } from './plan.ts'
import { planRest, UNIT_PAGES } from './plan-tasks.ts'
import { pagesPath, READS, type Read, type RefusedListing } from './read-results.ts'
import { addTo, type Record } from './run-state.ts'
import type { Covered, ReadUnit } from './task.ts'

export type Working = {
  plan: Plan
  record: Record
  requester: Requester
  figures: Figures
  /** What this worker knows of wallets that the service refuses. */
  refusals: Pick<Refusals, 'answered' | 'add'>
}

/**
 * Reads the pages of a unit into the record, with a note of what they really cover, and of wallets whose listing the service
 * refuses. Resolves with the units that are left of it where it was too much for one.
 */
export async function readUnit(working: Working, unit: ReadUnit): Promise<ReadUnit[]> {
  const { plan, record } = working
  const folder = await makeScratch('pages')
  try {
    const spool = await openSpool({
      folder,
      identity: identityOf(plan, unit),
      now: Date.now(),
      onDamage: () => {},
    })
    const found: Found = { starts: {}, newest: null, refused: [] }
    const wallets = walletsOf(plan)
    const read = await readWallets({ ...working, spool, found, wallets }, unit).finally(spool.close)
    const { covered } = read
    const addresses = wallets.slice(covered.first, covered.end).map(({ address }) => address)
    const sha256 = await hashFile(spool.path)
    await addTo(record, async (token) => {
      await record.objects.putFile(record.at(pagesPath(token)), spool.path)
      const ofPlan = { attempt: plan.attempt, plan: plan.sha256, chain: plan.job.chain }
      await READS.put(record, { ...ofPlan, token, addresses, covered, sha256, ...found })
    })
    return planRest(unit, covered, read.lastPages)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What the pages of a unit have in common; it stands at the head of their file. */
export function identityOf({ job }: Plan, { from, to }: BlockRange) {
  return { chain: job.chain, startBlock: from, endBlock: to, finalityMs: 0 }
}

/** What the pages of a unit show, changed in place. */
type Found = Pick<Read, 'newest'> & { starts: PartitionStarts; refused: RefusedListing[] }

type Reading = Working & { spool: Spool; found: Found; wallets: readonly PlannedWallet[] }

/** Reads wallet after wallet until all are read, or enough pages; gives what they cover, and the pages of the last. */
async function readWallets(
  reading: Reading,
  unit: ReadUnit,
): Promise<{ covered: Covered; lastPages: number }> {
  const { first, from, to } = unit
  let pages = 0
  for (let wallet = first; wallet < unit.end; wallet += 1) {
    const read = await readWallet(reading, { unit, wallet, mostPages: UNIT_PAGES - pages })
    pages += read.pages
    const covered = { first, end: wallet + 1, from, to, reached: read.reached }
    if (read.reached < to || pages >= UNIT_PAGES) return { covered, lastPages: read.pages }
  }
  return { covered: { first, end: unit.end, from, to, reached: to }, lastPages: pages }
}

type One = { unit: ReadUnit; wallet: number; mostPages: number }
type ReadWallet = { pages: number; reached: number }

/** Reads a wallet; where the service refuses it alone, that is noted, and it counts as read. */
async function readWallet(reading: Reading, one: One): Promise<ReadWallet> {
  const { refusals, spool, found, wallets } = reading
  const { to } = one.unit
  const address = wallets[one.wallet]?.address ?? ''
  try {
    return { pages: await readPages(reading, one, address), reached: spool.remaining(address)[0]?.from ?? to }
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown
    await refusals.add(address, thrown)
    const reached = spool.remaining(address)[0]?.from ?? to
    const code = thrown.code === 'KEY_REFUSED' ? 'KEY_REFUSED' : 'REQUEST_REFUSED'
    if (reached < to) found.refused.push({ address, error: wordsOfRefusal(thrown), code, reached })
    return { pages: 0, reached: to }
  }
}

/** Reads pages from the lowest block up; stops where a block has ended and they are enough. Resolves with how many. */
async function readPages(reading: Reading, { unit, mostPages }: One, address: string): Promise<number> {
  const { plan, requester, figures, refusals, spool, found } = reading
  const { chain } = plan.job
  let [asked, pages] = [0, 0]
  const { from, to } = unit
  const advance = (rest: BlockRange) => {
    asked += 1
    return asked >= mostPages && rest.from > from ? undefined : rest
  }
  const range = { from, to }
  const cutMs = Number.POSITIVE_INFINITY
  const head = () => plan.range.to - 1
  const ask = { chain, address, range, order: 'asc' as const, cutMs, advance, head }
  for await (const page of readRange(requester, ask)) {
    refusals.answered()
    await spool.addPage(address, page)
    noteStarts(found.starts, page.keys, plan.partitionBy)
    noteNewest(found, address, headBefore(page.keys, plan, figures))
    pages += 1
    figures.pages += 1
    figures.items += page.items
  }
  return pages
}

function noteNewest(found: Found, wallet: string, block: number | undefined): void {
  if (block !== undefined && block > (found.newest?.block ?? -1)) found.newest = { wallet, block }
}
