import { shiftDecimal } from '../flatten/decimal.ts'

/** Digits after the point of a value in money. */
const WORTH_DECIMALS = 8

/**
 * What an amount is worth at a price of one whole unit: multiplied exactly, then rounded to 8 decimals, a half to the even
 * digit. `value` is in the asset's smallest unit; `price` is plain digits.
 */
export function worthOf(value: bigint, decimals: number, price: string): string {
  const [whole = '', fraction = ''] = price.split('.')
  const digits = value * BigInt(whole + fraction)
  const worth = roundHalfEven(digits, decimals + fraction.length - WORTH_DECIMALS)
  return shiftDecimal(String(worth), WORTH_DECIMALS) ?? ''
}

/** Takes so many digits away; a negative number adds zeros. */
function roundHalfEven(digits: bigint, places: number): bigint {
  if (places <= 0) return digits * 10n ** BigInt(-places)
  const unit = 10n ** BigInt(places)
  const [kept, twice] = [digits / unit, (digits % unit) * 2n]
  return twice > unit || (twice === unit && kept % 2n === 1n) ? kept + 1n : kept
}
