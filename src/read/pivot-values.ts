import type { Token } from './sql-tokens.ts'

/** A value that stands for those which a PIVOT finds by itself. */
const ANY_VALUE: Token = { kind: 'symbol', text: ' IN (NULL) ' }

/**
 * The tokens with a list of values at each column of a PIVOT that has none. DuckDB makes several statements of a PIVOT without
 * values, and plans one only.
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
