import type { DuckDBConnection } from '@duckdb/node-api'
import { loadDuckDb } from '../core/duckdb/connection.ts'
import { ExportError } from '../core/model/errors.ts'
import { quoteIdentifier, quoteLiteral } from '../core/platform/sql.ts'
import { oneLine } from './engine-message.ts'
import { unitsMacros } from './exact-amounts.ts'
import { PLANNED_SUM_MACRO } from './exact-sums.ts'
import { findInexactUse, type InexactUse } from './inexact-use.ts'
import { misusesOrderedDecimals } from './ordered-use.ts'
import { withPivotValues } from './pivot-values.ts'
import { orderedUseError } from './query-errors.ts'
import { type PlanNode, parsePlans } from './query-plan.ts'
import type { ScratchDatabase } from './scratch-database.ts'
import type { Token } from './sql-tokens.ts'
import type { DecimalTypes } from './views.ts'

type CheckedStatement = {
  tokens: readonly Token[]
  toSql: (tokens: readonly Token[]) => string
  /** Values of PIVOT columns, see `withPivotValues`. */
  pivotValues: readonly (readonly string[])[]
}

export type ExactnessCheck = {
  /**
   * Throws USAGE for a statement whose rows, or their order, may be wrong because numbers are rounded, and for one
   * that uses a decimal of more than 38 digits as a number or text.
   */
  check(statement: CheckedStatement): Promise<void>
  close(): void
}

/**
 * Opens a check of statements on the views. DuckDB serializes plans only for tables, not for files, so
 * statements are planned against empty tables of the same names and types in a separate database.
 */
export async function openExactnessCheck(
  database: ScratchDatabase,
  types: DecimalTypes,
): Promise<ExactnessCheck> {
  const { DuckDBInstance } = await loadDuckDb()
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  for (const sql of [
    ...(await emptyTablesSql(database)),
    ...unitsMacros(types.amount),
    PLANNED_SUM_MACRO,
    "SET TimeZone = 'UTC'",
  ])
    await connection.run(sql)
  await connection.run('SET enable_external_access = false')
  const hasOrdered = Object.values(types).some(({ kind }) => kind === 'ordered')
  return {
    check: async ({ tokens, toSql, pivotValues }) => {
      const plans = await plansOf(connection, toSql(withPivotValues(tokens, pivotValues)))
      if (hasOrdered && plans.some(misusesOrderedDecimals)) throw orderedUseError(types)
      const use = plans.map(findInexactUse).find((found) => found !== undefined)
      if (use !== undefined) throw inexactUseError(use)
    },
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

async function emptyTablesSql(database: ScratchDatabase): Promise<string[]> {
  const found = await database.all(
    `SELECT table_name, column_name, data_type FROM duckdb_columns()
     WHERE NOT internal AND schema_name = 'main' ORDER BY table_name, column_index`,
  )
  const tables = new Map<string, string[]>()
  for (const { table_name: table, column_name: column, data_type: type } of found) {
    const columns = tables.get(String(table)) ?? []
    tables.set(String(table), [...columns, `${quoteIdentifier(String(column))} ${type}`])
  }
  return [...tables].map(
    ([table, columns]) => `CREATE TABLE ${quoteIdentifier(table)} (${columns.join(', ')})`,
  )
}

/** A statement that cannot be planned cannot be checked, so it is refused. */
async function plansOf(connection: DuckDBConnection, sql: string): Promise<PlanNode[]> {
  try {
    const result = await connection.runAndReadAll(
      `SELECT json_serialize_plan(${quoteLiteral(sql)}, skip_null := true, skip_empty := true, optimize := false)`,
    )
    return parsePlans(String(result.getRows()[0]?.[0]))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ExportError('USAGE', `the statement cannot be checked for rounding: ${oneLine(reason)}`, {
      cause,
      fix: "Write it in another way. For PIVOT, list the values, as in ON direction IN ('in', 'out'), or omit IN.",
    })
  }
}

function inexactUseError(use: InexactUse): ExportError {
  if (use.kind === 'rounded')
    return new ExportError('USAGE', 'the statement compares, sorts, groups or joins by rounded numbers', {
      fix: 'DuckDB computes *, /, % and ^ of exact numbers in floating point. Compare and sort value, amount or units(value, 18) themselves: write 5e18 for 5 * 1e18, units(value, 18) > 5 for value / 1e18 > 5, order by sum(value) for order by sum(value) / 1e18. To round on purpose, cast the result, as in round(avg(value))::BIGNUM or (amount / 3)::DECIMAL(38, 6).',
    })
  if (use.kind === 'text')
    return new ExportError('USAGE', `'${use.text}' is rounded when it is converted to a ${use.type}`, {
      fix: 'Write the number without quotes. Compare value, gas_price, transaction_fee and token_id with whole numbers, and write units(value, 18) = 1.5 for decimals.',
    })
  return new ExportError(
    'USAGE',
    'text is converted to a BIGNUM, which truncates digits after the decimal point',
    {
      fix: 'Compare it as text, as in value::VARCHAR = name, or write TRY_CAST(name AS BIGNUM) if all values are whole numbers.',
    },
  )
}
