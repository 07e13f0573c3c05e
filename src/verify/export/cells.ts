import type { Manifest } from '../../core/model/manifest.ts'
import type { FormatName } from '../../core/model/model.ts'
import { quoteIdentifier, quoteLiteral } from '../../core/platform/sql.ts'
import type { Column, ColumnType } from '../../core/table/index.ts'
import { unescapedSql } from '../../formats/column-sql.ts'
import { FORMATS, hasEscapedText } from '../../formats/index.ts'

/** The largest unsigned 256-bit integer, as decimal digits. */
export const MAX_U256 = String(2n ** 256n - 1n)

/** The DuckDB type of each column type; 256-bit integers and decimals stay text. */
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

/** SQL expression for a cell of text in its SQL type; null if the text does not parse. */
const parsedSql = ({ name, type }: Column) => `TRY_CAST(${quoteIdentifier(name)} AS ${SQL_TYPES[type]})`
const parsedName = ({ name }: Column) => quoteIdentifier(`parsed ${name}`)

/** Selects the rows of a source, with cells of text that later expressions use in their SQL type, each parsed once. */
export function parsedSourceSql(source: string, columns: readonly Column[], format: FormatName): string {
  if (FORMATS[format].isTyped) return source
  const parsed = columns
    .filter(({ type }) => SQL_TYPES[type] !== 'VARCHAR')
    .map((column) => `${parsedSql(column)} AS ${parsedName(column)}`)
  return `(SELECT ${['*', ...parsed].join(', ')} FROM ${source})`
}

/**
 * SQL condition that a cell of `parsedSourceSql` matches its column's type, range and format, and is not null in a non-null
 * column. It is never null.
 */
export function validCellSql(column: Column, format: FormatName): string {
  const cell = quoteIdentifier(column.name)
  const isValid = FORMATS[format].isTyped ? typedCell(column) : csvCell(column)
  return column.nullable ? `(${cell} IS NULL OR ${isValid})` : `(${cell} IS NOT NULL AND ${isValid})`
}

/**
 * SQL expression for a cell of `parsedSourceSql` in its SQL type; null if the text does not parse. Text that the job's format escapes is
 * unescaped, so that later checks see the exported values in every format.
 */
export function typedCellSql(column: Column, job: Manifest['job']): string {
  const { name, type, isGenerated = false } = column
  const cell = quoteIdentifier(name)
  if (type === 'text' && !isGenerated && hasEscapedText(job)) return unescapedSql(cell)
  return FORMATS[job.format].isTyped || SQL_TYPES[type] === 'VARCHAR' ? cell : parsedName(column)
}

/** Describes the values that a column allows, for messages. */
export function describeCell(column: Column): string {
  const expected =
    COLUMN_DESCRIPTIONS[column.name] ??
    (isLowerCase(column) ? 'lower-case text' : TYPE_DESCRIPTIONS[column.type])
  return column.nullable ? `${expected}, or null` : expected
}

function csvCell(column: Column): string {
  const cell = quoteIdentifier(column.name)
  if (column.type === 'int32' || column.type === 'int64') {
    return `${parsedName(column)}::VARCHAR IS NOT DISTINCT FROM ${cell}`
  }
  if (column.type === 'bool') return `${cell} IN ('true', 'false')`
  if (column.type === 'time') {
    const form = matches(cell, '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z')
    return `${form} AND ${parsedName(column)} IS NOT NULL`
  }
  return textCell(column)
}

function typedCell(column: Column): string {
  if (column.type === 'time') return `epoch_us(${quoteIdentifier(column.name)}) % 1000 = 0`
  return SQL_TYPES[column.type] === 'VARCHAR' ? textCell(column) : 'true'
}

function textCell(column: Column): string {
  const cell = quoteIdentifier(column.name)
  const pattern = PATTERNS[column.name]
  if (column.type === 'u256') return `${matches(cell, '0|[1-9][0-9]{0,77}')} AND ${atMostMax(cell, cell)}`
  if (column.type === 'i256')
    return `${matches(cell, '0|-?[1-9][0-9]{0,77}')} AND ${atMostMax(cell, `ltrim(${cell}, '-')`)}`
  if (column.type === 'decimal') {
    return `${matches(cell, '-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?')} AND ${cell} <> '-0'`
  }
  if (pattern !== undefined) return matches(cell, pattern)
  const words = WORDS[column.name]
  if (words !== undefined) return `${cell} IN (${words.map(quoteLiteral).join(', ')})`
  if (!isLowerCase(column)) return `${cell} <> ''`
  // Atomic transactions and their blocks have ids in base 58, in which the letter case counts and 0 does not occur.
  const isId = column.name.endsWith('_hash') ? ` OR ${matches(cell, '[1-9A-HJ-NP-Za-km-z]{40,60}')}` : ''
  return `${cell} <> '' AND (${cell} = lower(${cell})${isId})`
}

function matches(cell: string, pattern: string): string {
  return `regexp_full_match(${cell}, ${quoteLiteral(pattern)})`
}

/**
 * SQL condition that the digits of a cell are at most 2^256-1, where they are at most as many. Digit strings of equal length
 * compare like numbers.
 */
function atMostMax(cell: string, digits: string): string {
  return `CASE WHEN strlen(${cell}) < ${MAX_U256.length} OR strlen(${digits}) < ${MAX_U256.length} THEN true ELSE ${digits} <= '${MAX_U256}' END`
}

function isLowerCase({ name, type }: Column): boolean {
  return type === 'text' && (name.endsWith('_address') || name.endsWith('_hash'))
}

const PATTERNS: Readonly<Record<string, string>> = {
  entry_id: '[0-9a-f]{32}',
  internal_id: '[0-9a-f]{16}-[0-9]+',
  transfer_id: '-?[0-9]+(\\.[0-9]+)?|[0-9a-f]{16}-[0-9]+',
}
const WORDS: Readonly<Record<string, readonly string[]>> = {
  entry_type: ['transfer', 'mint', 'burn', 'fee', 'self', 'wrap', 'unwrap', 'import', 'export'],
  direction: ['in', 'out'],
  asset_type: ['native', 'erc20', 'erc721', 'erc1155'],
  source: [
    'transactions',
    'erc20_transfers',
    'erc721_transfers',
    'erc1155_transfers',
    'internal_transactions',
    'atomic_transactions',
  ],
  transfer_type: ['import', 'export'],
}
const COLUMN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  entry_id: '32 lower-case hex digits',
  internal_id: '16 lower-case hex digits, - and a number',
  transfer_id: 'a log index (ERC-1155: and its ordinal), or 16 lower-case hex digits, - and a number',
  entry_type: 'transfer, mint, burn, fee, self, wrap, unwrap, import or export',
  direction: 'in or out',
  asset_type: 'native, erc20, erc721 or erc1155',
  source: 'the name of a fact table',
  transfer_type: 'import or export',
}
const TYPE_DESCRIPTIONS: Readonly<Record<ColumnType, string>> = {
  text: 'non-empty text',
  int32: 'a 32-bit integer',
  int64: 'a 64-bit integer',
  bool: 'true or false',
  time: 'a UTC time with milliseconds',
  u256: 'an integer from 0 to 2^256-1 without leading zeros',
  i256: 'a signed integer with at most 256 bits and no leading zeros',
  decimal: 'a decimal number without exponent or trailing zeros',
}
