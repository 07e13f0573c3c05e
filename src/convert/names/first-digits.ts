/** So many digits of an address tell it from most others. */
const DIGITS = 8

export const firstDigits = (address: string): string => address.slice(2, 2 + DIGITS)

/** The first digits of addresses, in their order; those that begin like an earlier one have a number behind them. */
export function digitsInOrder(addresses: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return addresses.map((address) => {
    const digits = firstDigits(address)
    const count = (counts.get(digits) ?? 0) + 1
    counts.set(digits, count)
    return count === 1 ? digits : `${digits}-${count}`
  })
}

/** The same by address, of which none is there twice. */
export function digitsApart(addresses: readonly string[]): ReadonlyMap<string, string> {
  const digits = digitsInOrder(addresses)
  return new Map(addresses.map((address, at) => [address, digits[at] as string]))
}
