import { quoteLiteral } from '../core/platform/sql.ts'

/** SQL for value / 10^decimals; null if the decimals are null or not in 0..255. */
export function amountSql(value: string, decimals: string): string {
  return `CASE WHEN ${decimals} BETWEEN 0 AND 255 THEN ${scaledSql(value, decimals)} END`
}

/** Start of the error message of `unitsSql` for a value that is not an integer; the value follows. */
export const NOT_AN_INTEGER = 'units: expected a whole number, found'

/**
 * Like `amountSql` for a value of any type, for the statements of users. A value that is not an integer in
 * plain digits fails.
 */
export function unitsSql(value: string, decimals: string): string {
  const digits = `(${value}::VARCHAR)`
  // The type is known before rows are read, so integer columns have no extra cost.
  const isInteger = `typeof(${value}) IN (${INTEGER_TYPES}) OR regexp_full_match(${digits}, '0|-?[1-9][0-9]*')`
  const error = `error('${NOT_AN_INTEGER} "' || left(${digits}, 60) || '"')`
  return `CASE WHEN ${value} IS NULL THEN NULL WHEN ${isInteger} THEN ${amountSql(digits, decimals)} ELSE ${error} END`
}

const INTEGER_TYPES = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT']
  .flatMap((type) => [type, `U${type}`])
  .concat('BIGNUM')
  .map(quoteLiteral)
  .join(', ')

/**
 * SQL for the exact product of a non-negative BIGINT and an integer of up to 90 digits in text, as text.
 *
 * Schoolbook multiplication in limbs of 18 digits: the product and carry of each limb fit into DuckDB's 128
 * bits. `product` is an expression over a row with the additional columns `carries`, each of which uses the
 * previous one.
 */
export function productSql(factor: string, digits: string): { carries: string; product: string } {
  const limb = (at: number) => `TRY_CAST(substr(lpad(${digits}, 90, '0'), ${73 - 18 * at}, 18) AS HUGEINT)`
  const carries = [`${factor}::HUGEINT * ${limb(0)} AS c0`]
  for (let at = 1; at < 5; at += 1)
    carries.push(`${factor}::HUGEINT * ${limb(at)} + c${at - 1} // ${E18} AS c${at}`)
  const limbs = [3, 2, 1, 0].map((at) => `lpad((c${at} % ${E18})::VARCHAR, 18, '0')`)
  const digitsOfProduct = `ltrim(c4::VARCHAR || ${limbs.join(' || ')}, '0')`
  return {
    carries: carries.join(', '),
    product: `CASE WHEN ${digitsOfProduct} = '' THEN '0' ELSE ${digitsOfProduct} END`,
  }
}

const E18 = '1000000000000000000::HUGEINT'

/**
 * SQL for value / 10^decimals as plain decimal text. Exact at any size: it moves the decimal point instead of
 * dividing.
 */
function scaledSql(value: string, decimals: string): string {
  const padded = `lpad(ltrim(${value}, '-'), greatest(length(ltrim(${value}, '-')), ${decimals} + 1)::INTEGER, '0')`
  const whole = `left(${padded}, (length(${padded}) - ${decimals})::INTEGER)`
  const rest = `rtrim(substr(${padded}, (length(${padded}) - ${decimals} + 1)::INTEGER), '0')`
  const sign = `CASE WHEN starts_with(${value}, '-') THEN '-' ELSE '' END`
  return `(${sign} || ${whole} || CASE WHEN ${rest} = '' THEN '' ELSE '.' || ${rest} END)`
}
