import { shiftDecimal } from '../../core/platform/decimal.ts'

/** Decimal places of a fiat value. */
export const FIAT_DECIMALS = 8

/**
 * Returns the fiat value of an amount: value / 10^decimals × price, multiplied exactly and rounded half to even to 8 decimal
 * places. `value` is in the asset's smallest unit. `price` is for one whole unit, in digits with an optional decimal point.
 */
export function fiatValueOf(value: bigint, decimals: number, price: string): string {
  return shiftDecimal(String(exactFiatValue(value, decimals, price)), FIAT_DECIMALS) ?? ''
}

/** Returns the same value as an integer in units of 10^-8, for summing. */
export function exactFiatValue(value: bigint, decimals: number, price: string): bigint {
  const [whole = '', fraction = ''] = price.split('.')
  const digits = value * BigInt(whole + fraction)
  const dropped = decimals + fraction.length - FIAT_DECIMALS
  return digits < 0n ? -roundHalfEven(-digits, dropped) : roundHalfEven(digits, dropped)
}

/** An amount of an asset, in its smallest unit, not negative. */
type Amount = { value: bigint; decimals: number }

/** Decimal places of an implied price. More than for values, because one unit of some tokens is worth very little. */
const PRICE_DECIMALS = 18

/**
 * Returns the price of one whole unit of the acquired asset of a swap, given the price of the disposed asset: the fiat
 * value of `disposed` divided by the acquired units, rounded half to even to 18 decimal places. Undefined if a price
 * above zero rounds to zero.
 */
export function impliedPrice(acquired: Amount, disposed: Amount, price: string): string | undefined {
  const [whole = '', fraction = ''] = price.split('.')
  const fiatValue =
    disposed.value * BigInt(whole + fraction) * 10n ** BigInt(acquired.decimals + PRICE_DECIMALS)
  const units = acquired.value * 10n ** BigInt(disposed.decimals + fraction.length)
  const digits = units === 0n ? 0n : divideHalfEven(fiatValue, units)
  if (digits === 0n && fiatValue > 0n) return undefined
  return shiftDecimal(String(digits), PRICE_DECIMALS) ?? undefined
}

/** Divides a non-negative number by 10^dropped, rounding half to even. A negative `dropped` multiplies instead. */
function roundHalfEven(digits: bigint, dropped: number): bigint {
  if (dropped <= 0) return digits * 10n ** BigInt(-dropped)
  return divideHalfEven(digits, 10n ** BigInt(dropped))
}

/** Divides non-negative numbers, rounding half to even. */
function divideHalfEven(digits: bigint, divisor: bigint): bigint {
  const [quotient, doubledRemainder] = [digits / divisor, (digits % divisor) * 2n]
  return doubledRemainder > divisor || (doubledRemainder === divisor && quotient % 2n === 1n)
    ? quotient + 1n
    : quotient
}
