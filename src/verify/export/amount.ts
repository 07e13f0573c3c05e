import { amountSql } from '../../read/amount-sql.ts'

/**
 * SQL condition that an amount is not value / 10^decimals, exactly; never null. The text of both is in the form of its column
 * type, which is checked for each cell.
 *
 * Most amounts have few digits. Without the point, and with zeros for the decimals that it omits, such an amount is the value,
 * which takes a tenth of the time of formatting the value. An amount that fails this comparison is compared as text.
 */
export function wrongAmountSql(amount: string, value: string, decimals: string): string {
  const places = `if(contains(${amount}, '.'), strlen(${amount}) - instr(${amount}, '.'), 0)`
  const digits = `(replace(${amount}, '.', '') || repeat('0', ${decimals} - ${places}))`
  const isShort = `strlen(${value}) < 38 AND ${decimals} BETWEEN ${places} AND 36 AND strlen(${amount}) < 38`
  return `CASE WHEN ${isShort} THEN TRY_CAST(${digits} AS HUGEINT) IS DISTINCT FROM TRY_CAST(${value} AS HUGEINT)
    ELSE ${amount} IS DISTINCT FROM ${amountSql(value, decimals)} END`
}
