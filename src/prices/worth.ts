import { shiftDecimal } from '../flatten/decimal.ts'

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

/** Takes so many digits away of a number that is not negative; a negative number of digits adds zeros. */
function roundHalfEven(digits: bigint, places: number): bigint {
  if (places <= 0) return digits * 10n ** BigInt(-places)
  const unit = 10n ** BigInt(places)
  const [kept, twice] = [digits / unit, (digits % unit) * 2n]
  return twice > unit || (twice === unit && kept % 2n === 1n) ? kept + 1n : kept
}
