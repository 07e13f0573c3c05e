/** So many digits of an address tell it from most others. */
const DIGITS = 8

export const firstDigits = (address: string): string => address.slice(2, 2 + DIGITS)

const bothEnds = (address: string): string => `${firstDigits(address)}-${address.slice(-4)}`

const allDigits = (address: string): string => address.slice(2)

/**
 * Digits that tell addresses apart: the first eight; where several addresses share these, the last four too, and all of them where
 * that is not enough. They depend on the set of addresses and not on its order, so two addresses never swap their digits.
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

/** How many items have each key. */
export function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of items.map(keyOf)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
