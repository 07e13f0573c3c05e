import { rm } from 'node:fs/promises'
import { readRange } from '../client/pages/read-range.ts'
import type { Requester } from '../client/request.ts'
import { hashFile } from '../core/disk.ts'
import type { Figures } from '../core/figures.ts'
import type { BlockRange } from '../core/model.ts'
import { makeScratch } from '../core/scratch-folder.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { noteStarts, type PartitionStarts } from './partition-starts.ts'
import { type Plan, type PlannedWallet, walletsOf } from './plan.ts'
import { planRest, UNIT_PAGES } from './plan-units.ts'
import { pagesPath, putRead } from './reads.ts'
import { addTo, type Record } from './record.ts'
import type { Covered, ReadUnit } from './unit.ts'

export type Working = { plan: Plan; record: Record; requester: Requester; figures: Figures }

/**
 * Reads the pages of a unit into the record, with a note of what they really cover. Resolves with the units that are left of
 * it where it was too much for one.
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
    const starts: PartitionStarts = {}
    const wallets = walletsOf(plan)
    const read = await readWallets({ ...working, spool, starts, wallets }, unit).finally(spool.close)
    const { covered } = read
    const addresses = wallets.slice(covered.first, covered.end).map(({ address }) => address)
    const sha256 = await hashFile(spool.path)
    await addTo(record, async (token) => {
      await record.objects.putFile(record.at(pagesPath(token)), spool.path)
      const ofPlan = { attempt: plan.attempt, plan: plan.sha256, chain: plan.job.chain }
      await putRead(record, { ...ofPlan, token, addresses, covered, sha256, starts })
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

type Reading = Working & { spool: Spool; starts: PartitionStarts; wallets: readonly PlannedWallet[] }

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

/** Reads a wallet from the lowest block up; stops where a block has ended and pages are enough. */
async function readWallet(reading: Reading, { unit, wallet, mostPages }: One) {
  const { plan, requester, figures, spool, starts, wallets } = reading
  const { chain } = plan.job
  const address = wallets[wallet]?.address ?? ''
  let [asked, pages] = [0, 0]
  const { from, to } = unit
  const range = { from, to }
  const advance = (rest: BlockRange) => {
    asked += 1
    return asked >= mostPages && rest.from > from ? undefined : rest
  }
  const ask = { chain, address, range, order: 'asc' as const, cutMs: Number.POSITIVE_INFINITY, advance }
  for await (const page of readRange(requester, ask)) {
    await spool.addPage(address, page)
    noteStarts(starts, page.keys, plan.partitionBy)
    pages += 1
    figures.pages += 1
    figures.items += page.items
  }
  return { pages, reached: spool.remaining(address)[0]?.from ?? to }
}
