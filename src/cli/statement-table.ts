import type { AmountName } from '../accounting/statement/flows.ts'
import type { Statement } from '../accounting/statement/statement.ts'
import type { StatementLine } from '../accounting/statement/statement-lines.ts'
import { wholeUnits } from '../accounting/statement/statement-rows.ts'
import { roundDecimal, shiftDecimal } from '../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../ledger/prices/fiat-value.ts'
import type { PrintableResult } from '../terminal/write-query-result.ts'
import { roundAmount, singleBatch, truncateMiddle } from './table-cells.ts'

const COLUMNS = ['opening', 'received', 'sent', 'swapped', 'wrapped', 'fees', 'closing'] as const

/**
 * Builds the table of a statement for people, with rounded amounts. Swaps and wraps are net. With prices, the values follow
 * below the amounts.
 */
export function statementDisplayTable({ lines, currency }: Statement): PrintableResult {
  const rows = lines.flatMap((line) => {
    const amounts = netOf(line.amounts).map((value) => displayAmount(value ?? 0n, line))
    const values = netOf(line.values)
    const isValued = currency !== undefined && values.some((value) => value !== null)
    return [
      [truncateMiddle(line.wallet_label ?? line.wallet_address, 14), nameOf(line), ...amounts],
      ...(isValued ? [['', `  in ${currency}`, ...values.map(displayValue)]] : []),
    ]
  })
  return {
    columns: [
      ...['wallet', 'asset'].map((name) => ({ name, isNumber: false })),
      ...COLUMNS.map((name) => ({ name, isNumber: true })),
    ],
    batches: singleBatch(rows),
  }
}

function nameOf(line: StatementLine): string {
  const symbol = truncateMiddle(line.asset_symbol ?? line.asset_type, 10)
  return line.token_id === null ? symbol : `${symbol} #${truncateMiddle(line.token_id, 9)}`
}

/** The amounts of the columns. An unknown one (null) makes a difference unknown. */
function netOf(amounts: Readonly<Record<AmountName, bigint | null>>): (bigint | null)[] {
  const net = (plus: bigint | null, minus: bigint | null) =>
    plus === null || minus === null ? null : plus - minus
  const { opening, received, sent, fees, closing } = amounts
  return [
    opening,
    received,
    sent,
    net(amounts.swapped_in, amounts.swapped_out),
    net(amounts.wrapped_in, amounts.wrapped_out),
    fees,
    closing,
  ]
}

/** Maximum length of an amount in the table, which has seven of them in a line. */
const MAX_LENGTH = 12

function displayAmount(value: bigint, line: StatementLine): string {
  if (value === 0n) return '0'
  const amount = wholeUnits(value, line)
  return amount === null ? `${roundAmount(String(value), MAX_LENGTH)} units` : roundAmount(amount, MAX_LENGTH)
}

/** A value in units of 10^-8, rounded to two decimal places; a dash if a price is missing. */
function displayValue(value: bigint | null): string {
  const exact = value === null ? null : shiftDecimal(String(value), FIAT_DECIMALS)
  if (exact === null) return '–'
  if (value === 0n) return '0'
  const text = roundDecimal(exact, 2)
  return text.length <= MAX_LENGTH ? text : roundAmount(exact, MAX_LENGTH)
}
