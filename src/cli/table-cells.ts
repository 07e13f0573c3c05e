import { roundDecimal, roundScientific, trimFraction } from '../core/platform/decimal.ts'

/** One batch of rows, for `writeQueryResult`. */
export async function* singleBatch<T>(rows: T): AsyncGenerator<T, void, void> {
  yield rows
}

/** Shortens text to `maxLength` characters by replacing its middle with `…`. */
export function truncateMiddle(text: string, maxLength: number): string {
  const characters = [...text]
  if (characters.length <= maxLength) return text
  const tail = Math.min(4, maxLength >> 1)
  return `${characters.slice(0, maxLength - tail - 1).join('')}…${characters.slice(-tail).join('')}`
}

/** Default of `maxLength`. */
const MAX_DIGITS = 24

/** Shortens a decimal number of more than `maxLength` characters. It is rounded and prefixed with `≈`. */
export function roundAmount(amount: string, maxLength = MAX_DIGITS): string {
  if (amount.length <= maxLength) return amount
  const size = Math.abs(Number(amount))
  if (size >= 1e-6 && size < 10 ** Math.min(15, maxLength - 4)) {
    const places = Math.max(0, maxLength - 3 - amount.indexOf('.'))
    return `≈ ${trimFraction(roundDecimal(amount, places))}`
  }
  const { mantissa, exponent } = roundScientific(amount, 3)
  return `≈ ${mantissa}e${exponent < 0 ? '' : '+'}${exponent}`
}
