import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteLiteral } from '../core/platform/sql.ts'
import type { Token } from './sql-tokens.ts'

/** The values of the last `count` PIVOT columns for which DuckDB has created an ENUM, oldest first. */
export async function createdPivotValues(connection: DuckDBConnection, count: number): Promise<string[][]> {
  if (count === 0) return []
  const found = await connection.runAndReadAll(
    `SELECT labels FROM duckdb_types() WHERE logical_type = 'ENUM' AND NOT internal
     ORDER BY type_oid DESC LIMIT ${count}`,
  )
  return found
    .getRowsJson()
    .map(([labels]) => (Array.isArray(labels) ? labels.map(String) : []))
    .reverse()
}

/**
 * Adds a list of values to each PIVOT column that has none. DuckDB splits a PIVOT without values into several
 * statements and plans only one of them. `values` has the values of each such column in the order of the text;
 * without them, the list contains NULL only.
 */
export function withPivotValues(tokens: readonly Token[], values: readonly (readonly string[])[]): Token[] {
  const result: Token[] = []
  const remaining = [...values]
  const pivots: { depth: number; isInList: boolean; hasValues: boolean }[] = []
  let depth = 0
  const endColumn = () => {
    const pivot = pivots.at(-1)
    if (pivot?.depth !== depth || !pivot.isInList) return
    if (!pivot.hasValues) result.push(valueList(remaining.shift() ?? []))
    pivot.hasValues = false
  }
  for (const token of tokens) {
    const word = token.kind === 'word' ? token.text.toLowerCase() : token.text
    const pivot = pivots.at(-1)
    const isInPivot = pivot?.depth === depth
    if (/^pivot(_wider)?$/.test(word)) pivots.push({ depth, isInList: false, hasValues: false })
    else if (isInPivot && word === 'on' && !pivot.isInList) pivot.isInList = true
    else if (isInPivot && word === 'in') pivot.hasValues = true
    else if (isInPivot && word === ',') endColumn()
    else if (isInPivot && (word === ')' || LIST_END.test(word))) {
      endColumn()
      pivots.pop()
    }
    if (token.kind === 'symbol' && word === '(') depth += 1
    if (token.kind === 'symbol' && word === ')') depth -= 1
    result.push(token)
  }
  endColumn()
  return result
}

const valueList = (values: readonly string[]): Token => ({
  kind: 'symbol',
  text: ` IN (${values.map(quoteLiteral).join(', ') || 'NULL'}) `,
})

const LIST_END = /^(using|group|order|limit)$/
