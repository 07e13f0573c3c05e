/** Number of digits that are enough to distinguish most addresses. */
const DIGITS = 8

export const firstDigits = (address: string): string => address.slice(2, 2 + DIGITS)

const bothEnds = (address: string): string => `${firstDigits(address)}-${address.slice(-4)}`

const allDigits = (address: string): string => address.slice(2)

/**
 * Returns digits that distinguish each address from the others: the first eight; if several addresses share these, also
 * the last four; and if that is not enough, all digits. The result depends on the set of addresses but not on its
 * order, so two addresses never swap their digits.
 */
export function digitsToDistinguish(addresses: readonly string[]): ReadonlyMap<string, string> {
  const distinct = [...new Set(addresses)]
  const counts = [firstDigits, bothEnds].map((shorten) => ({ shorten, count: countBy(distinct, shorten) }))
  const digitsOf = (address: string) => {
    const unique = counts.find(({ shorten, count }) => count.get(shorten(address)) === 1)
    return (unique?.shorten ?? allDigits)(address)
  }
  return new Map(distinct.map((address) => [address, digitsOf(address)]))
}

/** Counts the items per key. */
export function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of items.map(keyOf)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
