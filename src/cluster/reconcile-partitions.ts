import { ExportError } from '../core/errors.ts'
import type { Figures } from '../core/figures.ts'
import { findMoved, type Moved } from './moved.ts'
import { type Plan, walletsOf } from './plan.ts'
import { rangesByWallet } from './plan-units.ts'
import { createReads, forgetReads, type Read, type Reading } from './reads.ts'
import type { Record } from './record.ts'
import type { Shown, Write } from './writes.ts'

export type Reconciling = {
  plan: Plan
  record: Record
  figures: Figures
  onNotice: (notice: string) => void
}

/** Rounds in which pages of moved transactions are read again, at most. */
const MOST_ROUNDS = 3
/** Reads that are done again for contradictions, at most: each has up to 50 pages. */
const MOST_REREADS = 20

/**
 * Leaves to be read again what keeps partitions from being one export: pages that place a transaction in two partitions, and,
 * once for each block of a listing, pages whose views of a transaction contradict each other. `reopen` resolves with whether
 * anything is to be read again. Throws UNITS_FAILED where transactions stay in two partitions.
 */
export function createReconciler({ plan, record, figures, onNotice }: Reconciling) {
  const reread = new Set<string>()
  let rounds = 0
  let left = MOST_REREADS
  const forget = async (what: string, reads: readonly Read[]) => {
    const units = reads.length === 1 ? '1 unit is' : `${reads.length} units are`
    onNotice(`${plan.job.name}: ${what}; ${units} read again`)
    await forgetReads(record, reads)
    return true
  }
  return {
    reopen: async (reading: Reading, writes: readonly Write[]): Promise<boolean> => {
      noteFacts(figures, writes)
      const moved = await findMoved(record, reading, writes)
      const reads = await createReads(record, plan).list()
      if (moved.transactions > 0) {
        if (rounds >= MOST_ROUNDS) throw stillMoved(plan, moved)
        rounds += 1
        return forget(describeMoved(moved), showing(plan, reads, moved.shown))
      }
      const shown = writes
        .flatMap(({ contradictions }) => contradictions)
        .filter((one) => !reread.has(nameOf(one)))
      for (const one of shown) reread.add(nameOf(one))
      const again = showing(plan, reads, shown).slice(0, left)
      left -= again.length
      if (again.length === 0) return false
      const { unresolved } = figures.contradicted
      const differ = unresolved === 1 ? '1 transaction differs' : `${unresolved} transactions differ`
      return forget(`${differ} between wallets`, again)
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
    ? '1 transaction stands in two partitions, since the chain was reorganised while it was read'
    : `${transactions} transactions stand in two partitions each, since the chain was reorganised while they were read`
}

const stillMoved = (plan: Plan, { transactions }: Moved) =>
  new ExportError(
    'UNITS_FAILED',
    `${plan.job.name}: the service still places ${transactions === 1 ? '1 transaction' : `${transactions} transactions`} in several blocks after ${MOST_ROUNDS} rereads`,
    {
      fix: 'Run the same command again once the chain is stable, end the range at a final block (endBlock), or run it without --queue.',
    },
  )
