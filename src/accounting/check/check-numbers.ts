import { exactFiatValue, FIAT_DECIMALS } from '../../ledger/prices/fiat-value.ts'
import type { Preset } from '../csv/preset.ts'

/** Quotes the text of a cell for messages, cut to 60 characters. */
export const quote = (text: string | undefined) =>
  text === undefined ? 'absent' : JSON.stringify(text.slice(0, 60))

/** Returns the reasons why the program would reject or round an amount; none for an empty cell. */
export function checkNumber(amount: string | undefined, { numbers }: Preset): string[] {
  if (amount === undefined || amount === '') return []
  if (!/^\d+(\.\d+)?$/.test(amount))
    return [
      `amount ${quote(amount)}, expected digits with an optional decimal point, no sign and no exponent`,
    ]
  const [whole = '', fraction = ''] = amount.split('.')
  const problems: string[] = []
  const { maxDecimals, maxDigits, maxWholeDigits, needsPoint } = numbers
  if (needsPoint && !amount.includes('.'))
    problems.push(`amount ${amount}, expected a decimal point: ${amount}.0`)
  if (maxDecimals !== undefined && fraction.length > maxDecimals)
    problems.push(`amount ${amount} has ${fraction.length} decimals, at most ${maxDecimals} are allowed`)
  const digits = `${whole}${fraction}`.replace(/^0+/, '').length
  if (maxWholeDigits !== undefined && whole.replace(/^0+/, '').length > maxWholeDigits)
    problems.push(`amount ${amount} has more than ${maxWholeDigits} digits before the point`)
  if (maxDigits !== undefined && digits > maxDigits)
    problems.push(`amount ${amount} has ${digits} digits, more than ${maxDigits} are rounded`)
  return problems
}

/** Checks that amount × price has no more digits before the decimal point than the program can compare. */
export function checkValue(
  amount: string | undefined,
  price: string | undefined,
  { numbers: { maxWholeDigits } }: Preset,
): string[] {
  if (maxWholeDigits === undefined || !DIGITS.test(amount ?? '') || !DIGITS.test(price ?? '')) return []
  const [whole = '', fraction = ''] = (amount as string).split('.')
  const value = exactFiatValue(BigInt(whole + fraction), fraction.length, price as string)
  if (value < 10n ** BigInt(maxWholeDigits + FIAT_DECIMALS)) return []
  return [
    `the value of amount ${amount} at the price ${price} has more than ${maxWholeDigits} digits before the point`,
  ]
}

const DIGITS = /^\d+(\.\d+)?$/
