import { shiftDecimal } from '../core/platform/decimal.ts'

/** The numbers that an import format can represent. */
export type NumberRules = {
  /** Maximum decimal places. Rows are rounded to them before they are formatted (`Remainders`). */
  maxDecimals?: number
  /** Whether the program reads numbers as floating point, and rounds them to `maxDecimals`. @default false */
  readsFloats?: boolean
  /** Maximum significant digits, without leading zeros. A movement with a longer amount is omitted and listed. */
  maxDigits?: number
  /**
   * Maximum significant digits of a sum that the program computes exactly. An asset whose sums may be longer is omitted
   * completely and listed. Finding such assets needs another pass over the ledger.
   */
  maxSumDigits?: number
  /**
   * Maximum digits before the decimal point that the program can compare, for sums and for their values at the user's
   * prices. An asset that may exceed them is omitted completely and listed.
   */
  maxWholeDigits?: number
  /** Whether integers need a decimal point: 5.0. */
  needsPoint?: boolean
}

/**
 * Formats an amount as a non-negative decimal number without an exponent, cut off after the last decimal of the format.
 * Undefined if the format cannot represent it: its decimals are unknown, or it has too many digits.
 */
export function formatAmount(value: bigint, decimals: number | null, rules: NumberRules): string | undefined {
  if (decimals === null || decimals > 255) return undefined
  const { maxDecimals = 255, maxDigits = Number.POSITIVE_INFINITY } = rules
  const remainder = decimals > maxDecimals ? value % 10n ** BigInt(decimals - maxDecimals) : 0n
  const text = shiftDecimal(String(remainder === 0n ? value : value - remainder), decimals)
  if (text === null || (text.length > maxDigits && significantDigits(text) > maxDigits)) return undefined
  return withDecimalPoint(text, rules)
}

/** Explains why `formatAmount` returned undefined. */
export function unformattableReason(decimals: number | null, { maxDigits }: NumberRules): string {
  if (decimals === null) return 'the decimals of the token are unknown'
  if (decimals < 0) return 'the decimals of the token are below zero'
  return decimals > 255 ? 'the token has more than 255 decimals' : `more than ${maxDigits} digits`
}

/**
 * Returns why a program that needs a price for every row rejects one; undefined if it does not. The program cuts prices off
 * like amounts.
 */
export function rejectedPriceReason(price = '', { maxDecimals }: NumberRules): string | undefined {
  const [whole = '', fraction = ''] = price.split('.')
  if (!/[1-9]/.test(price)) return 'there is no price'
  return /[1-9]/.test(whole + fraction.slice(0, maxDecimals))
    ? undefined
    : 'the price is zero within the decimals of the format'
}

/** Adds `.0` to an integer if the format needs a decimal point. */
export function withDecimalPoint(text: string, { needsPoint = false }: NumberRules): string {
  return needsPoint && !text.includes('.') ? `${text}.0` : text
}

/** Number of digits without leading zeros. */
const significantDigits = (text: string) => text.replace('.', '').replace(/^0+/, '').length
