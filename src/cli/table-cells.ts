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

/** Numbers with more characters are rounded and prefixed with `≈`. */
const MAX_DIGITS = 24

/** Shortens a decimal number with many digits. */
export function roundAmount(amount: string): string {
  if (amount.length <= MAX_DIGITS) return amount
  const size = Math.abs(Number(amount))
  const isFixedPoint = size >= 1e-6 && size < 1e15
  return isFixedPoint ? `≈ ${amount.slice(0, MAX_DIGITS - 2)}` : `≈ ${Number(amount).toExponential(3)}`
}
