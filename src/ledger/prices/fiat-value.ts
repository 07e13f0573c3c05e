import { shiftDecimal } from '../../core/platform/decimal.ts'

/** Digits after the point of a value in money. */
export const WORTH_DECIMALS = 8

/**
 * What an amount is worth at a price of one whole unit: multiplied exactly, then rounded to 8 decimals, a half to the even
 * digit. `value` is in the asset's smallest unit; `price` is plain digits.
 */
export function worthOf(value: bigint, decimals: number, price: string): string {
  return shiftDecimal(String(exactWorth(value, decimals, price)), WORTH_DECIMALS) ?? ''
}

/** The same in units of 10^-8, to be added up. */
export function exactWorth(value: bigint, decimals: number, price: string): bigint {
  const [whole = '', fraction = ''] = price.split('.')
  const digits = value * BigInt(whole + fraction)
  const places = decimals + fraction.length - WORTH_DECIMALS
  return digits < 0n ? -roundHalfEven(-digits, places) : roundHalfEven(digits, places)
}

/** An amount of an asset, in its smallest unit, not negative. */
type Amount = { value: bigint; decimals: number }

/** Digits after the point of a price that is worked out: of some tokens a unit is worth very little. */
const PRICE_DECIMALS = 18

/**
 * The price of one whole unit of what was got for something else of a known price: divided exactly, then rounded to 18
 * decimals, a half to the even digit; undefined where nothing is left of a worth.
 */
export function priceOfGot(got: Amount, given: Amount, price: string): string | undefined {
  const [whole = '', fraction = ''] = price.split('.')
  const worth = given.value * BigInt(whole + fraction) * 10n ** BigInt(got.decimals + PRICE_DECIMALS)
  const units = got.value * 10n ** BigInt(given.decimals + fraction.length)
  const digits = units === 0n ? 0n : divideHalfEven(worth, units)
  if (digits === 0n && worth > 0n) return undefined
  return shiftDecimal(String(digits), PRICE_DECIMALS) ?? undefined
}

/** Takes so many digits away of a number that is not negative; a negative number of digits adds zeros. */
function roundHalfEven(digits: bigint, places: number): bigint {
  if (places <= 0) return digits * 10n ** BigInt(-places)
  return divideHalfEven(digits, 10n ** BigInt(places))
}

/** Of numbers that are not negative. */
function divideHalfEven(digits: bigint, by: bigint): bigint {
  const [kept, twice] = [digits / by, (digits % by) * 2n]
  return twice > by || (twice === by && kept % 2n === 1n) ? kept + 1n : kept
}
