import { quoteIdentifier, quoteLiteral } from '../core/platform/sql.ts'
import type { Table } from '../core/table/index.ts'
import { unitsSql } from './amount-sql.ts'
import { DECIMAL_DIGITS } from './exact-numbers.ts'
import type { ResultRow } from './scratch-database.ts'

/**
 * The type that decimals of an export have in a query. `decimal`: DECIMAL(38, scale) holds all of them. `ordered`: some
 * have more digits; each is then a struct of a text key that sorts as the numbers do, and the plain digits. Such values
 * sort and compare with each other, and DuckDB refuses sums, arithmetic and comparisons with numbers.
 */
export type DecimalType = { kind: 'decimal'; scale: number } | ({ kind: 'ordered' } & Digits)

/** The most digits before and after the point. */
export type Digits = { whole: number; fraction: number }

const MIN_DIGITS: Digits = { whole: 1, fraction: 0 }
/** The first field of the struct; in the engine's messages it tells that an `ordered` value was computed with. */
export const ORDER_KEY = 'order_key'
/** The second field. */
export const PLAIN_KEY = 'plain'
/** What a query says of a decimal that does not fit the chosen type; the decimal follows. */
export const NOT_EXACT = 'exact decimal: no room for'

/** Decimals of the native coin, for which `units(value, 18)` needs room. */
const DEFAULT_SCALE = 18

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

/** Plain decimal text as a value of this type. A decimal that does not fit fails with `NOT_EXACT`. */
export function exactDecimalSql(text: string, type: DecimalType): string {
  return type.kind === 'decimal' ? checkedSql(text, type.scale) : orderedSql(text)
}

/** A cast by itself would round what has too many digits after the point. */
function checkedSql(text: string, scale: number): string {
  const fits = `length(split_part(${text}, '.', 2)) <= ${scale}`
  const cast = `CASE WHEN ${fits} THEN TRY_CAST(${text} AS DECIMAL(${DECIMAL_DIGITS}, ${scale})) END`
  const error = `error(${quoteLiteral(`${NOT_EXACT} `)} || ${text})`
  return `coalesce(${cast}, CASE WHEN ${text} IS NOT NULL THEN ${error} END)`
}

/**
 * The key is the sign, the number of digits before the point, and all digits. Of a negative number the digits are
 * complements to 9, and a `~` at the end makes -5 larger than -5.1.
 */
function orderedSql(text: string): string {
  const digits = `ltrim(${text}, '-')`
  const whole = `split_part(${digits}, '.', 1)`
  const key = `lpad(length(${whole})::VARCHAR, 3, '0') || replace(${digits}, '.', '')`
  const negative = `'0' || translate(${key}, '0123456789', '9876543210') || '~'`
  const ordered = `CASE WHEN starts_with(${text}, '-') THEN ${negative} ELSE '1' || ${key} END`
  return `CASE WHEN ${text} IS NOT NULL THEN struct_pack(${ORDER_KEY} := ${ordered}, ${PLAIN_KEY} := ${text}) END`
}

/** The macros of a query: `units` gives an exact decimal of this type, `units_text` text of any length. */
export function unitsMacros(type: DecimalType): string[] {
  return [
    `CREATE MACRO units_text(value, decimals) AS ${unitsSql('value', 'decimals')}`,
    `CREATE MACRO exact_decimal(digits) AS ${exactDecimalSql('digits', type)}`,
    'CREATE MACRO units(value, decimals) AS exact_decimal(units_text(value, decimals))',
  ]
}

/** A row with the most digits of a column of plain decimals. */
export function decimalDigitsSql(column: string, source: string): string {
  const text = `ltrim(${quoteIdentifier(column)}, '-')`
  return digitsSql(
    `length(split_part(${text}, '.', 1))`,
    `length(split_part(${text}, '.', 2))`,
    `${source} WHERE ${text} <> ''`,
  )
}

/** A row with the most digits of what `units(value, decimals)` can be of a table's values; undefined where it has none. */
export function valueDigitsSql({ columns }: Table, source: string): string | undefined {
  if (!columns.some(({ name }) => name === 'value')) return undefined
  const own = columns.find(({ name }) => /^(token|asset|metadata)_decimals$/.test(name))
  const decimals = own === undefined ? '18' : `TRY_CAST(${quoteIdentifier(own.name)} AS INTEGER)`
  const digits = `ltrim("value", '-')`
  // Where decimals are unknown, a statement may name any number of them.
  return digitsSql(
    `length(${digits}) - coalesce(${decimals}, 0)`,
    `least(${decimals}, 255) - (length(${digits}) - length(rtrim(${digits}, '0')))`,
    `${source} WHERE "value" <> '0'`,
  )
}

function digitsSql(whole: string, fraction: string, from: string): string {
  return `SELECT coalesce(max(${whole}), 1)::INTEGER AS whole, coalesce(max(${fraction}), 0)::INTEGER AS fraction FROM ${from}`
}

/** The digits of a row of `decimalDigitsSql` or `valueDigitsSql`. */
export function parseDigits(row: ResultRow | undefined): Digits {
  return {
    whole: Math.max(Number(row?.whole ?? 1), MIN_DIGITS.whole),
    fraction: Math.max(Number(row?.fraction ?? 0), MIN_DIGITS.fraction),
  }
}
