import type { Format } from '../../core/model/model.ts'
import { quoteIdentifier, quoteLiteral } from '../../core/platform/sql.ts'
import type { Column, ColumnType } from '../../core/table/index.ts'

/** The largest whole number of 256 bits, as text. */
export const MAX_U256 = String(2n ** 256n - 1n)

/** SQL type of each of our types; exact numbers stay text. */
export const SQL_TYPES = {
  text: 'VARCHAR',
  int32: 'INTEGER',
  int64: 'BIGINT',
  bool: 'BOOLEAN',
  time: 'TIMESTAMP WITH TIME ZONE',
  u256: 'VARCHAR',
  i256: 'VARCHAR',
  decimal: 'VARCHAR',
} as const satisfies Record<ColumnType, string>

/** SQL that is true where a cell is not of its column's type and range, or null where it may not be. */
export function invalidCellSql(column: Column, format: Format): string {
  const cell = quoteIdentifier(column.name)
  const isValid = format === 'csv' ? csvCell(column) : parquetCell(column)
  return `CASE WHEN ${cell} IS NULL THEN ${!column.nullable} ELSE NOT (${isValid}) END`
}

/** SQL for a cell as its SQL type: null where it does not parse. */
export function typedCellSql(column: Column, format: Format): string {
  const type = SQL_TYPES[column.type]
  if (format === 'parquet' || type === 'VARCHAR') return quoteIdentifier(column.name)
  return `TRY_CAST(${quoteIdentifier(column.name)} AS ${type})`
}

/** What a cell of this column has to be, in words. */
export function describeCell(column: Column): string {
  const expected =
    COLUMN_DESCRIPTIONS[column.name] ??
    (isLowerCase(column) ? 'lower-case text' : TYPE_DESCRIPTIONS[column.type])
  return column.nullable ? `${expected}, or null` : expected
}

function csvCell(column: Column): string {
  const cell = quoteIdentifier(column.name)
  if (column.type === 'int32' || column.type === 'int64') {
    return `${matches(cell, '0|-?[1-9][0-9]*')} AND TRY_CAST(${cell} AS ${SQL_TYPES[column.type]}) IS NOT NULL`
  }
  if (column.type === 'bool') return `${cell} IN ('true', 'false')`
  if (column.type === 'time') {
    const form = matches(cell, '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z')
    return `${form} AND TRY_CAST(${cell} AS TIMESTAMP) IS NOT NULL`
  }
  return textCell(column)
}

function parquetCell(column: Column): string {
  if (column.type === 'time') return `epoch_us(${quoteIdentifier(column.name)}) % 1000 = 0`
  return SQL_TYPES[column.type] === 'VARCHAR' ? textCell(column) : 'true'
}

function textCell(column: Column): string {
  const cell = quoteIdentifier(column.name)
  const pattern = PATTERNS[column.name]
  if (column.type === 'u256') return `${matches(cell, '0|[1-9][0-9]{0,77}')} AND ${atMostMax(cell)}`
  if (column.type === 'i256') {
    return `${matches(cell, '0|-?[1-9][0-9]{0,77}')} AND ${atMostMax(`ltrim(${cell}, '-')`)}`
  }
  if (column.type === 'decimal') {
    return `${matches(cell, '-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?')} AND ${cell} <> '-0'`
  }
  if (pattern !== undefined) return matches(cell, pattern)
  return isLowerCase(column) ? `${cell} = lower(${cell}) AND ${cell} <> ''` : `${cell} <> ''`
}

function matches(cell: string, pattern: string): string {
  return `regexp_full_match(${cell}, ${quoteLiteral(pattern)})`
}

/** Digits of one length compare as text. */
function atMostMax(digits: string): string {
  return `(length(${digits}) < ${MAX_U256.length} OR ${digits} <= '${MAX_U256}')`
}

function isLowerCase({ name, type }: Column): boolean {
  return type === 'text' && (name.endsWith('_address') || name.endsWith('_hash'))
}

const PATTERNS: Readonly<Record<string, string>> = {
  entry_id: '[0-9a-f]{32}',
  internal_id: '[0-9a-f]{16}-[0-9]+',
  entry_type: 'transfer|mint|burn|fee|self',
  direction: 'in|out',
  asset_type: 'native|erc20|erc721|erc1155',
  source: 'transactions|erc20_transfers|erc721_transfers|erc1155_transfers|internal_transactions',
}
const COLUMN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  entry_id: '32 lower-case hex digits',
  internal_id: '16 lower-case hex digits, - and a number',
  entry_type: 'transfer, mint, burn, fee or self',
  direction: 'in or out',
  asset_type: 'native, erc20, erc721 or erc1155',
  source: 'the name of a fact table',
}
const TYPE_DESCRIPTIONS: Readonly<Record<ColumnType, string>> = {
  text: 'text that is not empty',
  int32: 'a whole number of 32 bits',
  int64: 'a whole number of 64 bits',
  bool: 'true or false',
  time: 'a UTC time with milliseconds',
  u256: 'a whole number from 0 to 2^256-1 without leading zeros',
  i256: 'a whole number of at most 256 bits and a sign, without leading zeros',
  decimal: 'a plain decimal number without exponent or trailing zeros',
}
