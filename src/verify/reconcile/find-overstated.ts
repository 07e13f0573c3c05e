import type { BalanceReader } from '../../sources/balances.ts'
import type { DivergentTransaction } from './divergent-rows.ts'

/**
 * Finds the first transaction whose listed gas price is its fee cap, by the details of the service. Nothing is
 * requested unless several transactions of the block may be it.
 *
 * @returns the transactions, with `overstatedBy` at the one that was found; those whose price the details confirm no
 *   longer count as having a fee cap
 */
export async function markOverstated(
  transactions: readonly DivergentTransaction[],
  { excess, maxRequests }: { excess: bigint; maxRequests: number },
  { readFee }: Pick<BalanceReader, 'readFee'>,
): Promise<readonly DivergentTransaction[]> {
  const candidates = transactions.filter(({ hasFeeCap, fee }) => hasFeeCap && fee > 0n)
  if (excess <= 0n || candidates.length < 2) return transactions
  const confirmed = new Set<DivergentTransaction>()
  const marked = (overstated?: DivergentTransaction, paid = 0n) =>
    transactions.map((transaction) =>
      transaction === overstated
        ? { ...transaction, overstatedBy: transaction.fee - paid }
        : { ...transaction, hasFeeCap: transaction.hasFeeCap && !confirmed.has(transaction) },
    )
  for (const candidate of candidates.slice(0, maxRequests)) {
    const paid = await readFee(candidate.hash)
    if (paid === undefined) break
    if (paid < candidate.fee) return marked(candidate, paid)
    confirmed.add(candidate)
  }
  return marked()
}
