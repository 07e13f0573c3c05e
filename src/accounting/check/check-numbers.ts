import { exactFiatValue, FIAT_DECIMALS } from '../../ledger/prices/fiat-value.ts'
import type { Preset } from '../csv/preset.ts'

/** A cell's text in messages. */
export const quote = (text: string | undefined) =>
  text === undefined ? 'absent' : JSON.stringify(text.slice(0, 60))

/** What a program would not take of an amount; nothing where the cell is empty. */
export function checkNumber(amount: string | undefined, { numbers }: Preset): string[] {
  if (amount === undefined || amount === '') return []
  if (!/^\d+(\.\d+)?$/.test(amount))
    return [`amount ${quote(amount)}, expected plain digits with a point, no sign, no exponent`]
  const [whole = '', fraction = ''] = amount.split('.')
  const problems: string[] = []
  const { maxDecimals, maxDigits, maxWholeDigits, needsPoint } = numbers
  if (needsPoint && !amount.includes('.'))
    problems.push(`amount ${amount}, expected a decimal point: ${amount}.0`)
  if (maxDecimals !== undefined && fraction.length > maxDecimals)
    problems.push(`amount ${amount} has ${fraction.length} decimals, at most ${maxDecimals} are taken`)
  const digits = `${whole}${fraction}`.replace(/^0+/, '').length
  if (maxWholeDigits !== undefined && whole.replace(/^0+/, '').length > maxWholeDigits)
    problems.push(`amount ${amount} has more than ${maxWholeDigits} digits before the point`)
  if (maxDigits !== undefined && digits > maxDigits)
    problems.push(`amount ${amount} has ${digits} digits, more than ${maxDigits} are rounded`)
  return problems
}

/** An amount times its price has to have no more digits before the point than the program can compare. */
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
    `amount ${amount} at the price ${price} is worth more than ${maxWholeDigits} digits before the point`,
  ]
}

const DIGITS = /^\d+(\.\d+)?$/
