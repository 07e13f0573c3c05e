import { DUCKDB_TYPES } from '../../../core/duckdb/source-sql.ts'
import { literal, named } from '../../../core/platform/sql.ts'
import { type Dialect, declareNotNull } from '../dialect.ts'

const types = { ...DUCKDB_TYPES, u256: 'BIGNUM', i256: 'BIGNUM' } as const

const WHOLE = 'BIGNUM has any number of digits and sorts, compares and sums exactly; avg, * and / round.'

/** No PRIMARY KEY: its index is held in memory whole and outgrows the rows; loads keep the key unique themselves. */
export const duckdb: Dialect = {
  title: 'DuckDB',
  types,
  limits: {
    u256: WHOLE,
    i256: WHOLE,
    decimal:
      'Decimal digits as text, because DECIMAL has only 38 digits and DOUBLE rounds. Text does not sort like numbers.',
  },
  declare: declareNotNull(types),
  quote: named,
  literal,
  comments: 'statements',
  tail: () => '',
  defaultSchema: 'main',
  createSchema: (schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: (expression) => `CAST(${expression} AS VARCHAR)`,
  toSeconds: (expression) => `epoch_ms(${expression}) // 1000`,
}
