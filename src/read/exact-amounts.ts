import { quoteIdentifier, quoteLiteral } from '../core/platform/sql.ts'
import type { Table } from '../core/table/index.ts'
import { unitsSql } from './amount-sql.ts'
import { DECIMAL_DIGITS } from './exact-numbers.ts'
import type { ResultRow } from './scratch-database.ts'

/**
 * Type of an export's decimals in a query. `decimal`: DECIMAL(38, scale) represents all of them. `ordered`:
 * some have more digits, so each is a struct of a text key that sorts in numeric order, and the plain digits.
 * Such values can be sorted and compared with each other, and summed (`exact-sums.ts`); DuckDB rejects arithmetic and
 * comparisons with numbers.
 */
export type DecimalType = { kind: 'decimal'; scale: number } | ({ kind: 'ordered' } & Digits)

/** Largest number of digits before and after the decimal point. */
export type Digits = { whole: number; fraction: number }

const MIN_DIGITS: Digits = { whole: 1, fraction: 0 }
/**
 * First field of the struct. DuckDB's message contains this name if a statement computes with an `ordered`
 * value.
 */
export const ORDER_KEY = 'order_key'
/** Second field of the struct. */
export const PLAIN_KEY = 'plain'
/** Start of the error message for a decimal that does not fit the chosen type; the decimal follows. */
export const NOT_EXACT = 'exact decimal: too many digits in'

/** Decimals of the native coin; the scale for `units(value, 18)`. */
const DEFAULT_SCALE = 18

/** The type of most amounts: 18 decimals, and 20 digits before the point. */
export const DEFAULT_TYPE: DecimalType = { kind: 'decimal', scale: DEFAULT_SCALE }

export function decimalTypeFor({ whole, fraction }: Digits): DecimalType {
  if (whole + fraction > DECIMAL_DIGITS) return { kind: 'ordered', whole, fraction }
  return { kind: 'decimal', scale: Math.max(fraction, Math.min(DEFAULT_SCALE, DECIMAL_DIGITS - whole)) }
}

export function maxDigits(all: readonly Digits[]): Digits {
  return {
    whole: Math.max(...all.map(({ whole }) => whole), MIN_DIGITS.whole),
    fraction: Math.max(...all.map(({ fraction }) => fraction), MIN_DIGITS.fraction),
  }
}

/** SQL that converts plain decimal text to this type. A decimal that does not fit fails with `NOT_EXACT`. */
export function exactDecimalSql(text: string, type: DecimalType): string {
  return type.kind === 'decimal' ? checkedSql(text, type.scale) : orderedSql(text)
}

/** A plain cast would round excess digits after the decimal point. */
function checkedSql(text: string, scale: number): string {
  const fits = `length(split_part(${text}, '.', 2)) <= ${scale}`
  const cast = `CASE WHEN ${fits} THEN TRY_CAST(${text} AS DECIMAL(${DECIMAL_DIGITS}, ${scale})) END`
  const error = `error(${quoteLiteral(`${NOT_EXACT} `)} || ${text})`
  return `coalesce(${cast}, CASE WHEN ${text} IS NOT NULL THEN ${error} END)`
}

/**
 * The key consists of the sign, the number of digits before the decimal point, and all digits. For negative
 * numbers the digits are complemented to 9, and a trailing `~` makes -5 larger than -5.1.
 */
function orderedSql(text: string): string {
  const digits = `ltrim(${text}, '-')`
  const whole = `split_part(${digits}, '.', 1)`
  const key = `lpad(length(${whole})::VARCHAR, 3, '0') || replace(${digits}, '.', '')`
  const negative = `'0' || translate(${key}, '0123456789', '9876543210') || '~'`
  const ordered = `CASE WHEN starts_with(${text}, '-') THEN ${negative} ELSE '1' || ${key} END`
  return `CASE WHEN ${text} IS NOT NULL THEN struct_pack(${ORDER_KEY} := ${ordered}, ${PLAIN_KEY} := ${text}) END`
}

/**
 * SQL macros: `units` returns an exact decimal of this type, `units_text` plain digits of any length as text.
 */
export function unitsMacros(type: DecimalType): string[] {
  return [
    `CREATE MACRO units_text(value, decimals) AS ${unitsSql('value', 'decimals')}`,
    `CREATE MACRO exact_decimal(digits) AS ${exactDecimalSql('digits', type)}`,
    'CREATE MACRO units(value, decimals) AS exact_decimal(units_text(value, decimals))',
  ]
}

/** SQL for a row with the largest number of digits in a column of plain decimals. */
export function decimalDigitsSql(column: string, source: string): string {
  const text = `ltrim(${quoteIdentifier(column)}, '-')`
  return digitsSql(
    `length(split_part(${text}, '.', 1))`,
    `length(split_part(${text}, '.', 2))`,
    `${source} WHERE ${text} <> ''`,
  )
}

/**
 * SQL for a row with the largest number of digits that `units(value, decimals)` can return for a table's
 * values; undefined if the table has no `value` column.
 */
export function valueDigitsSql({ columns }: Table, source: string): string | undefined {
  if (!columns.some(({ name }) => name === 'value')) return undefined
  const own = columns.find(({ name }) => /^(token|asset|metadata)_decimals$/.test(name))
  const decimals = own === undefined ? '18' : `TRY_CAST(${quoteIdentifier(own.name)} AS INTEGER)`
  const digits = `ltrim("value", '-')`
  // If the decimals are unknown, a statement may use any number of them.
  return digitsSql(
    `length(${digits}) - coalesce(${decimals}, 0)`,
    `least(${decimals}, 255) - (length(${digits}) - length(rtrim(${digits}, '0')))`,
    `${source} WHERE "value" <> '0'`,
  )
}

function digitsSql(whole: string, fraction: string, from: string): string {
  return `SELECT coalesce(max(${whole}), 1)::INTEGER AS whole, coalesce(max(${fraction}), 0)::INTEGER AS fraction FROM ${from}`
}

/** Reads the result row of `decimalDigitsSql` or `valueDigitsSql`. */
export function parseDigits(row: ResultRow | undefined): Digits {
  return {
    whole: Math.max(Number(row?.whole ?? 1), MIN_DIGITS.whole),
    fraction: Math.max(Number(row?.fraction ?? 0), MIN_DIGITS.fraction),
  }
}
