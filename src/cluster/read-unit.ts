import { rm } from 'node:fs/promises'
import { readRange } from '../client/pages/read-range.ts'
import type { Requester } from '../client/request.ts'
import type { Figures } from '../core/figures.ts'
import type { BlockRange } from '../core/model.ts'
import { makeScratch } from '../core/scratch-folder.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { noteStarts, type PartitionStarts } from './partition-starts.ts'
import type { Plan } from './plan.ts'
import { planRest, UNIT_PAGES } from './plan-units.ts'
import { keepStarts, pagesPath, type Record } from './record.ts'
import type { Covered, ReadUnit } from './unit.ts'

export type Working = { plan: Plan; record: Record; requester: Requester; figures: Figures }

/**
 * Reads the pages of a unit into the record, under a name that says what they really cover. Resolves with the units that are
 * left of it where it was too much for one.
 */
export async function readUnit(working: Working, unit: ReadUnit): Promise<ReadUnit[]> {
  const folder = await makeScratch('pages')
  try {
    const { chain } = working.plan.job
    const identity = { chain, startBlock: unit.from, endBlock: unit.to, finalityMs: 0 }
    const spool = await openSpool({ folder, identity, now: Date.now(), onDamage: () => {} })
    const starts: PartitionStarts = {}
    const read = await readWallets({ ...working, spool, starts }, unit).finally(spool.close)
    if (Object.keys(starts).length > 0) await keepStarts(working.record, read.covered, starts)
    await working.record.putFile(pagesPath(read.covered), spool.path)
    return planRest(unit, read.covered, read.lastPages)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Reading = Working & { spool: Spool; starts: PartitionStarts }

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
  return { covered: { ...unit, reached: to }, lastPages: pages }
}

type One = { unit: ReadUnit; wallet: number; mostPages: number }

/** Reads a wallet from the lowest block up; stops where a block has ended and pages are enough. */
async function readWallet(reading: Reading, { unit, wallet, mostPages }: One) {
  const { plan, requester, figures, spool, starts } = reading
  const { chain, wallets } = plan.job
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
