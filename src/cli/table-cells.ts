import { roundDecimal, roundScientific, trimFraction } from '../core/platform/decimal.ts'
import type { PrintableResult } from '../terminal/write-query-result.ts'

/** A result of one batch of rows, for `writeQueryResult`. The last `numbers` columns are numbers, aligned to the right. */
export function printableTable(
  columns: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  numbers = 0,
): PrintableResult {
  const firstNumber = columns.length - numbers
  return {
    columns: columns.map((name, at) => ({ name, isNumber: at >= firstNumber })),
    batches: singleBatch(rows),
  }
}

async function* singleBatch<T>(rows: T): AsyncGenerator<T, void, void> {
  yield rows
}

/** What a table for people shows of a balance, within 48 characters. */
export function balanceCells(balance: {
  wallet_label: string | null
  wallet_address: string
  asset_symbol: string | null
  asset_type: string
  asset_address: string | null
  token_id: string | null
}): (string | null)[] {
  const { wallet_label, wallet_address, asset_symbol, asset_type, asset_address, token_id } = balance
  return [
    truncateMiddle(wallet_label ?? wallet_address, 14),
    truncateMiddle(asset_symbol ?? asset_type, 10),
    asset_address === null ? null : truncateMiddle(asset_address, 11),
    token_id === null ? null : truncateMiddle(token_id, 11),
  ]
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
