import type { Token } from './sql-tokens.ts'

/** Placeholder for the values that a PIVOT would find by itself. */
const ANY_VALUE: Token = { kind: 'symbol', text: ' IN (NULL) ' }

/**
 * Adds a list of values to each PIVOT column that has none. DuckDB splits a PIVOT without values into several
 * statements and plans only one of them.
 */
export function withPivotValues(tokens: readonly Token[]): Token[] {
  const result: Token[] = []
  const pivots: { depth: number; isInList: boolean; hasValues: boolean }[] = []
  let depth = 0
  const endColumn = () => {
    const pivot = pivots.at(-1)
    if (pivot?.depth !== depth || !pivot.isInList) return
    if (!pivot.hasValues) result.push(ANY_VALUE)
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

const LIST_END = /^(using|group|order|limit)$/
