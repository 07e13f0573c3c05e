import {
  roundDecimal,
  roundScientific,
  shiftDecimal,
  trimFraction,
  trimZeros,
} from '../core/platform/decimal.ts'

/** How a language writes numbers. */
export type Separators = { group: string; decimal: string }

/**
 * Replaces control, format, surrogate and separator characters with ␣: they could hide text or reverse its direction.
 */
export const visibleText = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '␣')

/** Formats a plain decimal without dropping digits: `−1,234.5`. Other text is returned unchanged. */
export function formatNumber(exact: string | number, { group, decimal }: Separators): string {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(String(exact)) ?? []
  if (whole === undefined) return String(exact)
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group)
  return `${sign === '' ? '' : '−'}${grouped}${fraction.replace('.', decimal)}`
}

/** Rounds an exact decimal for reading: `8.31 × 10⁷³`, `1,234.57`, `0.0021`. */
export function shortenNumber(exact: string, separators: Separators): string {
  const [, whole = '', fraction = ''] = /^-?(\d+)(?:\.(\d+))?$/.exec(exact) ?? []
  const zeros = fraction.length - trimZeros([...fraction].reverse().join('')).length
  if (whole.length > 15 || (whole === '0' && zeros >= 6 && zeros < fraction.length)) {
    const { mantissa, exponent } = roundScientific(exact, 2)
    return `${formatNumber(trimFraction(mantissa), separators)} × 10${superscript(exponent)}`
  }
  const places = Math.max(2, 5 - whole.length) + (whole === '0' ? zeros : 0)
  return formatNumber(trimFraction(roundDecimal(exact, places)), separators)
}

const superscript = (exponent: number): string =>
  String(exponent).replace(/./g, (digit) => SUPERSCRIPTS[digit] ?? digit)
const SUPERSCRIPTS: Readonly<Record<string, string>> = Object.fromEntries(
  [...'-0123456789'].map((digit, at) => [digit, [...'⁻⁰¹²³⁴⁵⁶⁷⁸⁹'][at] ?? digit]),
)

/** From here on, values are shortened as amounts are: only made-up tokens are worth so much. */
const MONEY_DIGITS = 15

/** Formats a fiat value with two decimal places. */
export function formatMoney(exact: string, separators: Separators): string {
  const [whole = ''] = exact.replace('-', '').split('.')
  if (whole.length > MONEY_DIGITS) return shortenNumber(exact, separators)
  return formatNumber(roundDecimal(exact, 2), separators)
}

/** An amount in whole units; in smallest units if the decimals are unknown. */
export const exactAmount = (value: bigint, decimals: number | null): string =>
  shiftDecimal(String(value), decimals) ?? `${value} units`

/** Formats an amount that `exactAmount` returned. */
export function shortenAmount(exact: string, separators: Separators): string {
  const [digits = '', unit] = exact.split(' ')
  const short = shortenNumber(digits, separators)
  return unit === undefined ? short : `${short} ${unit}`
}

/** The first and last four hex digits of an address: `0x1234…abcd`. */
export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`
