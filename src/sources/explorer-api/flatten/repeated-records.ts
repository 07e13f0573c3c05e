import { isAbsent, isObject, lowerAt } from '../../fields.ts'
import { onChainFieldsOf } from '../item.ts'

/** Drops internal transactions that are listed twice: equal records at the same position in the trace. */
export function uniqueInternals(records: readonly unknown[]): readonly unknown[] {
  const seen = new Set<string>()
  return records.filter((record) => {
    if (!isObject(record) || (record.traceId === undefined && record.index === undefined)) return true
    const text = onChainFieldsOf(record)
    return !seen.has(text) && seen.add(text)
  })
}

/**
 * Etherscan has listed transfers from a wallet to itself twice, once for each party. An even number of equal records
 * without a log index counts as half as many. Balances do not depend on it.
 */
export function uniqueSelfTransfers(records: readonly unknown[]): readonly unknown[] {
  const counts = new Map<string, number>()
  for (const record of records)
    if (isSelfTransfer(record)) {
      const text = onChainFieldsOf(record)
      counts.set(text, (counts.get(text) ?? 0) + 1)
    }
  if (counts.size === 0) return records
  const seen = new Map<string, number>()
  return records.filter((record) => {
    const text = onChainFieldsOf(record)
    const [count, at] = [counts.get(text) ?? 1, (seen.get(text) ?? 0) + 1]
    seen.set(text, at)
    return count % 2 === 1 || at <= count / 2
  })
}

const isSelfTransfer = (record: unknown): boolean =>
  isObject(record) &&
  isAbsent(record, 'logIndex') &&
  !isAbsent(record, 'from') &&
  lowerAt(record, 'from') === lowerAt(record, 'to')
