import type { BlockRange } from '../core/model/model.ts'
import type { Figures } from '../core/model/run-stats.ts'
import { type Plan, walletsOf } from './plan.ts'
import { rangesByWallet } from './plan-tasks.ts'
import { forgetReads, READS, type Read, type Reading } from './read-results.ts'
import { findMoved, type Moved } from './reorged.ts'
import type { Record } from './run-state.ts'
import type { Shown, Write } from './write-results.ts'

export type Reconciling = {
  plan: Plan
  record: Record
  figures: Figures
  onNotice: (notice: string) => void
}

/** Reads that are done again, at most: each has up to 50 pages. */
const MOST_REREADS = 20

/**
 * Leaves to be read again, once for each block of a listing, pages that place a transaction in two partitions, and pages whose
 * views of a transaction contradict each other. Where a transaction stays in two partitions, all from its first place to its
 * last become one unit, which then unites its views as a run on one machine does.
 */
export function createReconciler({ plan, record, figures, onNotice }: Reconciling) {
  const reread = new Set<string>()
  let joined: readonly BlockRange[] = []
  let left = MOST_REREADS
  const say = (what: string) => onNotice(`${plan.job.name}: ${what}`)
  /** Resolves with whether any of these blocks are to be read again. */
  const reopen = async (what: string, shown: readonly Shown[]): Promise<boolean> => {
    const open = shown.filter((one) => !reread.has(nameOf(one)))
    for (const one of open) reread.add(nameOf(one))
    const again = showing(plan, await READS.open(record, plan).list(), open).slice(0, left)
    left -= again.length
    if (again.length === 0) return false
    say(`${what}; ${again.length === 1 ? '1 unit is' : `${again.length} units are`} read again`)
    await forgetReads(record, again)
    return true
  }
  return {
    /** Blocks whose partitions are one unit. */
    joined: (): readonly BlockRange[] => joined,
    /** Resolves with whether the partitions are one export as they are. */
    isSettled: async (reading: Reading, writes: readonly Write[]): Promise<boolean> => {
      noteFacts(figures, writes)
      const moved = await findMoved(record, reading, writes)
      if (moved.transactions > 0) {
        if (await reopen(describeMoved(moved), moved.shown)) return false
        say(`${describeMoved(moved)}, even when read again; these partitions are written as one`)
        joined = [...joined, ...moved.ranges]
        return false
      }
      const { unresolved } = figures.contradicted
      const differ = unresolved === 1 ? '1 transaction differs' : `${unresolved} transactions differ`
      const shown = writes.flatMap(({ contradictions }) => contradictions)
      if (await reopen(`${differ} between wallets`, shown)) return false
      if (unresolved > 0) say(`${differ} between wallets even when read again`)
      return true
    },
  }
}

function noteFacts(figures: Figures, writes: readonly Write[]): void {
  const sum = (count: (write: Write) => number) => writes.reduce((all, write) => all + count(write), 0)
  const unresolved = sum(({ contradicted }) => contradicted)
  figures.contradicted = { found: Math.max(figures.contradicted.found, unresolved), unresolved }
  figures.repeatedLogs = sum(({ repeatedLogs }) => repeatedLogs)
}

const nameOf = ({ wallet, block }: Shown) => `${wallet}/${block}`

/** The reads that cover one of these blocks of a wallet's listing. */
function showing(plan: Plan, reads: readonly Read[], shown: readonly Shown[]): Read[] {
  const blocks = new Map<string, number[]>()
  for (const { wallet, block } of shown) {
    const known = blocks.get(wallet)
    if (known === undefined) blocks.set(wallet, [block])
    else known.push(block)
  }
  const wallets = walletsOf(plan)
  return reads.filter(({ covered }) =>
    [...rangesByWallet([covered])].some(([wallet, ranges]) =>
      blocks
        .get(wallets[wallet]?.address ?? '')
        ?.some((block) => ranges.some(({ from, to }) => block >= from && block < to)),
    ),
  )
}

function describeMoved({ transactions }: Moved): string {
  return transactions === 1
    ? 'the service places 1 transaction in two partitions'
    : `the service places ${transactions} transactions in two partitions each`
}
