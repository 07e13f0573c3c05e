import { shiftDecimal } from '../core/platform/decimal.ts'

/** What a format can hold of a number. */
export type NumberRules = {
  /** Digits after the point, at most; what is beyond is cut off and listed. */
  maxDecimals?: number
  /** Digits in all, from the first that is not zero, at most; an amount with more is left out and listed. */
  maxDigits?: number
  /**
   * Digits that the program adds up exactly, at most: an asset whose amounts may come to more is left out whole and listed, for
   * which the ledger is read once more.
   */
  maxSumDigits?: number
  /**
   * Digits before the point that the program can compare, at most, of sums and of what they are worth at the user's prices: an
   * asset that may come to more is left out whole and listed.
   */
  maxWholeDigits?: number
  /** Every number has a point: 5.0. */
  needsPoint?: boolean
}

export type FormattedAmount = {
  /** Plain digits with a point, never an exponent, not negative. */
  text: string
  /** What was cut off, in the asset's smallest unit. */
  remainder: bigint
}

/** An amount as a format takes it; undefined where it cannot: unknown decimals, or too many digits. */
export function formatAmount(
  value: bigint,
  decimals: number | null,
  rules: NumberRules,
): FormattedAmount | undefined {
  if (decimals === null || decimals > 255) return undefined
  const { maxDecimals = 255, maxDigits = Number.POSITIVE_INFINITY } = rules
  const remainder = decimals > maxDecimals ? value % 10n ** BigInt(decimals - maxDecimals) : 0n
  const text = shiftDecimal(String(remainder === 0n ? value : value - remainder), decimals)
  if (text === null || (text.length > maxDigits && significantDigits(text) > maxDigits)) return undefined
  return { text: withDecimalPoint(text, rules), remainder }
}

/** Why an amount has no text: what its decimals are, or else how many digits it has. */
export function unformattableReason(decimals: number | null, { maxDigits }: NumberRules): string {
  if (decimals === null) return 'the decimals of the token are unknown'
  if (decimals < 0) return 'the decimals of the token are below zero'
  return decimals > 255 ? 'the token has more than 255 decimals' : `more than ${maxDigits} digits`
}

/** A number as a format has it that wants a point in each. */
export function withDecimalPoint(text: string, { needsPoint = false }: NumberRules): string {
  return needsPoint && !text.includes('.') ? `${text}.0` : text
}

/** Digits from the first that is not zero. */
const significantDigits = (text: string) => text.replace('.', '').replace(/^0+/, '').length
