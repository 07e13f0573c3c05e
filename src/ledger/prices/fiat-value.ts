import { shiftDecimal } from '../../core/platform/decimal.ts'

/** Digits after the point of a value in money. */
export const FIAT_DECIMALS = 8

/**
 * What an amount is worth at a price of one whole unit: multiplied exactly, then rounded to 8 decimals, a half to the even
 * digit. `value` is in the asset's smallest unit; `price` is plain digits.
 */
export function fiatValueOf(value: bigint, decimals: number, price: string): string {
  return shiftDecimal(String(exactFiatValue(value, decimals, price)), FIAT_DECIMALS) ?? ''
}

/** The same in units of 10^-8, to be added up. */
export function exactFiatValue(value: bigint, decimals: number, price: string): bigint {
  const [whole = '', fraction = ''] = price.split('.')
  const digits = value * BigInt(whole + fraction)
  const dropped = decimals + fraction.length - FIAT_DECIMALS
  return digits < 0n ? -roundHalfEven(-digits, dropped) : roundHalfEven(digits, dropped)
}

/** An amount of an asset, in its smallest unit, not negative. */
type Amount = { value: bigint; decimals: number }

/** Digits after the point of a price that is worked out: of some tokens a unit is worth very little. */
const PRICE_DECIMALS = 18

/**
 * The price of one whole unit of what was got for something else of a known price: divided exactly, then rounded to 18
 * decimals, a half to the even digit; undefined where nothing is left of a worth.
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

/** Takes so many digits away of a number that is not negative; a negative number of digits adds zeros. */
function roundHalfEven(digits: bigint, dropped: number): bigint {
  if (dropped <= 0) return digits * 10n ** BigInt(-dropped)
  return divideHalfEven(digits, 10n ** BigInt(dropped))
}

/** Of numbers that are not negative. */
function divideHalfEven(digits: bigint, divisor: bigint): bigint {
  const [quotient, doubledRemainder] = [digits / divisor, (digits % divisor) * 2n]
  return doubledRemainder > divisor || (doubledRemainder === divisor && quotient % 2n === 1n)
    ? quotient + 1n
    : quotient
}
