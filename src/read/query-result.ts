import type { DuckDBResult, DuckDBValueConverter, Json } from '@duckdb/node-api'
import { loadDuckDb } from '../core/duckdb/connection.ts'
import { ORDER_KEY, PLAIN_KEY } from './exact-amounts.ts'
import { DECIMAL_DIGITS } from './exact-numbers.ts'
import { withoutExactSum } from './exact-sums.ts'

/** A cell of a query result. Integers beyond 2^53, decimals and times are exact text. */
export type ResultCell = string | number | boolean | null | object

/** A column of a query result. */
export type ResultColumn = {
  name: string
  isNumber: boolean
  /** Floating point: only about 16 significant digits are exact. */
  isRounded: boolean
}

/** Result of a statement. */
export type QueryResult = {
  columns: readonly ResultColumn[]
  /** Rows in batches, in result order. Can be iterated once. */
  batches: AsyncIterable<readonly (readonly ResultCell[])[]>
}

/** Where type names are: in descriptions such as those of DESCRIBE, or in cells that `typeof` returns. */
export type TypesShown = 'within text' | 'as whole cells' | 'none'

type ResultOptions = {
  /** Converts an error of DuckDB. */
  rethrow: (error: unknown) => Promise<never>
  types: TypesShown
}

/** Converts a DuckDB result. */
export async function resultOf(
  result: DuckDBResult,
  { rethrow, types: typesShown }: ResultOptions,
): Promise<QueryResult> {
  const converter = await openConverter()
  const toPlain = typesShown === 'within text' ? plainDescription : plainType
  const toCell: DuckDBValueConverter<Json> =
    typesShown === 'none'
      ? converter
      : (value, type, convert) => {
          const cell = converter(value, type, convert)
          return typeof cell === 'string' ? toPlain(cell) : cell
        }
  const types = result.columnTypes().map(String)
  const columns = result.columnNames().map((name, at) => {
    const type = types[at] ?? ''
    return {
      name: withoutExactSum(name),
      isNumber: NUMBER.test(type),
      isRounded: /^(DOUBLE|FLOAT)$/.test(type),
    }
  })
  return { columns, batches: batchesOf(result, { toCell, rethrow }) }
}

/** The plan of a statement as a result with one row per line. */
export async function planResult(
  result: DuckDBResult,
  clean: (text: string) => string,
): Promise<QueryResult> {
  const lines: ResultCell[][] = []
  for await (const rows of result.yieldRowsJson())
    for (const [, plan] of rows)
      lines.push(
        ...clean(String(plan))
          .split('\n')
          .map((line) => [line]),
      )
  const batches = (async function* () {
    yield lines
  })()
  return { columns: [{ name: 'plan', isNumber: false, isRounded: false }], batches }
}

type ConversionContext = { toCell: DuckDBValueConverter<Json>; rethrow: (error: unknown) => Promise<never> }

async function* batchesOf(result: DuckDBResult, { toCell, rethrow }: ConversionContext) {
  try {
    for await (const rows of result.yieldConvertedRows(toCell)) yield rows
  } catch (error) {
    await rethrow(error)
  }
}

/** Types that are right-aligned: numbers, including the structs of `exactDecimalSql`. */
const NUMBER = new RegExp(
  `INT|BIGNUM|DECIMAL|DOUBLE|FLOAT|^STRUCT\\("${ORDER_KEY}" VARCHAR, "${PLAIN_KEY}" VARCHAR\\)$`,
)

/**
 * Converts values to the notation of CSV files, also inside lists and structs. Other types use DuckDB's JSON
 * conversion.
 */
async function openConverter(): Promise<DuckDBValueConverter<Json>> {
  const duckdb = await loadDuckDb()
  const { BIGINT, UBIGINT } = duckdb.DuckDBTypeId
  return (value, type, toCell) => {
    if (value === null) return null
    if (type.typeId === BIGINT || type.typeId === UBIGINT) return toSafeNumber(String(value))
    if (value instanceof duckdb.DuckDBDecimalValue) return trimTrailingZeros(String(value))
    // Its text would use the time zone of this machine.
    if (value instanceof duckdb.DuckDBTimestampTZValue)
      return isoTime(String(new duckdb.DuckDBTimestampValue(value.micros)))
    if (TIMESTAMP.test(String(type))) return isoTime(String(value))
    if (value instanceof duckdb.DuckDBStructValue && ORDER_KEY in value.entries)
      return String(value.entries[PLAIN_KEY])
    return duckdb.JsonDuckDBValueConverter(value, type, toCell)
  }
}

/** Replaces the type `ordered` and its values in a text of DuckDB, which contains the struct that represents it. */
const plainDescription = (text: string) =>
  text
    .replaceAll(ORDERED_TYPE, `DECIMAL of more than ${DECIMAL_DIGITS} digits`)
    .replaceAll(ORDERED_VALUE, '$1')

/** Replaces the name of the type `ordered`; other text, which may come from the chain, is unchanged. */
const plainType = (text: string) => (text.replace(ORDERED_TYPE, '') === '' ? plainDescription(text) : text)

const ORDERED_TYPE = new RegExp(`STRUCT\\("?${ORDER_KEY}"? VARCHAR, "?${PLAIN_KEY}"? VARCHAR\\)`, 'g')
const ORDERED_VALUE = new RegExp(`\\{'${ORDER_KEY}': [01]\\d*~?, '${PLAIN_KEY}': (-?[\\d.]+)\\}`, 'g')

const toSafeNumber = (digits: string) => (Number.isSafeInteger(Number(digits)) ? Number(digits) : digits)

const trimTrailingZeros = (decimal: string) =>
  decimal.replace(/\.?0*$/, (zeros) => (decimal.includes('.') ? '' : zeros))

/** `2023-11-14 22:46:40.5` → `2023-11-14T22:46:40.500Z`, as in CSV files. */
function isoTime(text: string): string {
  const [, date, time, fraction = ''] = TIME.exec(text) ?? []
  return date === undefined ? text : `${date}T${time}.${fraction.padEnd(3, '0')}Z`
}

const TIMESTAMP = /^TIMESTAMP(_S|_MS|_NS)?$/
const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?$/
