import type { DivergentTransaction } from './divergent-rows.ts'
import type { BalanceReader } from './service-balances.ts'

/**
 * Finds the first transaction whose listed gas price is its fee cap, by the details of the service. Nothing is
 * requested unless several transactions of the block may be it.
 *
 * @returns the transactions, with `overstatedBy` at the one that was found
 */
export async function markOverstated(
  transactions: readonly DivergentTransaction[],
  { excess, maxRequests }: { excess: bigint; maxRequests: number },
  { readFee }: Pick<BalanceReader, 'readFee'>,
): Promise<readonly DivergentTransaction[]> {
  const candidates = transactions.filter(({ hasFeeCap, fee }) => hasFeeCap && fee > 0n)
  if (excess <= 0n || candidates.length < 2) return transactions
  for (const candidate of candidates.slice(0, maxRequests)) {
    const paid = await readFee(candidate.hash)
    if (paid === undefined) return transactions
    if (paid < candidate.fee)
      return transactions.map((one) =>
        one === candidate ? { ...one, overstatedBy: candidate.fee - paid } : one,
      )
  }
  return transactions
}
