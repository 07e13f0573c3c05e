import { quoteIdentifier, quoteLiteral } from '../../../core/platform/sql.ts'
import { DUCKDB_TYPES } from '../../../formats/column-sql.ts'
import { alterDropNotNull, type Dialect, declareNotNull } from '../dialect.ts'

const types = { ...DUCKDB_TYPES, u256: 'BIGNUM', i256: 'BIGNUM' } as const

const BIG_INTEGER_LIMIT =
  'BIGNUM has any number of digits and sorts, compares and sums exactly; avg, * and / round.'

/**
 * There is no PRIMARY KEY, because its index must fit into memory and becomes larger than the rows. Loads ensure that
 * keys are unique.
 */
export const duckdb: Dialect = {
  title: 'DuckDB',
  types,
  limits: {
    u256: BIG_INTEGER_LIMIT,
    i256: BIG_INTEGER_LIMIT,
    decimal:
      'Decimal digits as text, because DECIMAL has only 38 digits and DOUBLE rounds. Text does not sort like numbers.',
  },
  declare: declareNotNull(types),
  dropNotNull: alterDropNotNull,
  quote: quoteIdentifier,
  literal: quoteLiteral,
  comments: 'statements',
  tableSuffix: () => '',
  defaultSchema: 'main',
  createSchema: (schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: (expression) => `CAST(${expression} AS VARCHAR)`,
  toSeconds: (expression) => `epoch_ms(${expression}) // 1000`,
}
