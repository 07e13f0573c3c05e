import { quoteLiteral } from '../core/platform/sql.ts'
import type { Table } from '../core/table/index.ts'
import type { LoadTarget, Statements, TableBlocks } from './target.ts'

/** Name of the temporary table that files are inserted into before they are merged. */
export const STAGE = 'walletlake_stage'

/**
 * Implements the stage and its merge for engines with temporary tables, UPDATE FROM and IS DISTINCT FROM. Nothing relies
 * on a unique index. The statements compare before they write, so that rows that do not differ are neither locked nor
 * seen by triggers.
 *
 * @param query runs a statement and resolves with its rows
 */
export function stagedMerge(
  sql: Statements,
  query: (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>,
): Pick<LoadTarget, 'isEmpty' | 'createStage' | 'findDuplicate' | 'merge'> {
  const { identifier, quote } = sql
  return {
    isEmpty: async ({ name }) => (await query(`SELECT 1 FROM ${identifier(name)} LIMIT 1`)).length === 0,
    createStage: async (table) => {
      const columns = columnList(table, sql)
      await query(
        `CREATE TEMPORARY TABLE ${STAGE} AS SELECT ${columns} FROM ${identifier(table.name)} WHERE 1 = 0`,
      )
    },
    findDuplicate: async (table, blocks) => {
      const keys = table.key
        .map((column) => `CAST(t.${quote(column)} AS text) AS ${quote(column)}`)
        .join(', ')
      const from = `${identifier(table.name)} AS t JOIN ${STAGE} AS s ON ${isSameKey(table, sql)}`
      const [row] = await query(`SELECT ${keys} FROM ${from} WHERE ${isWithin(blocks, sql)} LIMIT 1`)
      return row && table.key.map((column) => String(row[column]))
    },
    merge: async (table, removed) => {
      const name = identifier(table.name)
      const key = isSameKey(table, sql)
      const columns = columnList(table, sql)
      const isDistinct = (column: string) => `t.${quote(column)} IS DISTINCT FROM s.${quote(column)}`
      const counts = table.columns.map(
        (column) => `sum(CASE WHEN ${isDistinct(column.name)} THEN 1 ELSE 0 END) AS ${quote(column.name)}`,
      )
      const [differences] = await query(
        `SELECT ${counts.join(', ')} FROM ${name} AS t JOIN ${STAGE} AS s ON ${key}`,
      )
      // Other columns are not set: DuckDB cannot set an indexed column of a row that a foreign key references.
      const changed = table.columns
        .map((column) => column.name)
        .filter((column) => Number(differences?.[column]) > 0)
      const set = changed.map((column) => `${quote(column)} = s.${quote(column)}`).join(', ')
      const statements = [
        `DELETE FROM ${name} AS t WHERE ${isWithin(removed, sql)} AND NOT EXISTS (SELECT 1 FROM ${STAGE} AS s WHERE ${key})`,
        ...(changed.length === 0
          ? []
          : [
              `UPDATE ${name} AS t SET ${set} FROM ${STAGE} AS s WHERE ${key} AND (${changed.map(isDistinct).join(' OR ')})`,
            ]),
        `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${STAGE} AS s WHERE NOT EXISTS (SELECT 1 FROM ${name} AS t WHERE ${key})`,
        `DROP TABLE ${STAGE}`,
      ]
      for (const statement of statements) await query(statement)
    },
  }
}

export function columnList(
  { columns }: Pick<Table, 'columns'>,
  { quote }: Pick<Statements, 'quote'>,
): string {
  return columns.map(({ name }) => quote(name)).join(', ')
}

function isSameKey({ key }: Table, { quote }: Statements): string {
  return key.map((column) => `t.${quote(column)} = s.${quote(column)}`).join(' AND ')
}

/** SQL condition that the row `t` belongs to one of these chains and blocks. */
function isWithin({ chainIds, ranges }: TableBlocks, { quote }: Statements): string {
  if (ranges.length === 0) return '1 = 0'
  const block = `t.${quote('block_number')}`
  const isInRange = ranges.map(({ from, to }) => `(${block} >= ${from} AND ${block} < ${to})`).join(' OR ')
  return `t.${quote('chain_id')} IN (${chainIds.map(quoteLiteral).join(', ')}) AND (${isInRange})`
}
