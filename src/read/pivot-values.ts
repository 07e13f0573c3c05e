import type { Token } from './sql-tokens.ts'

/** A value that stands for those which a PIVOT finds by itself. */
const ANY_VALUE: Token = { kind: 'symbol', text: ' IN (NULL) ' }

/**
 * The tokens with a list of values at each column of a PIVOT that has none. DuckDB makes several statements of a PIVOT without
 * values, and plans one only.
 */
export function withPivotValues(tokens: readonly Token[]): Token[] {
  const made: Token[] = []
  const pivots: { depth: number; isInList: boolean; hasValues: boolean }[] = []
  let depth = 0
  const endColumn = () => {
    const pivot = pivots.at(-1)
    if (pivot?.depth !== depth || !pivot.isInList) return
    if (!pivot.hasValues) made.push(ANY_VALUE)
    pivot.hasValues = false
  }
  for (const token of tokens) {
    const word = token.kind === 'word' ? token.text.toLowerCase() : token.text
    const pivot = pivots.at(-1)
    const isOwn = pivot?.depth === depth
    if (/^pivot(_wider)?$/.test(word)) pivots.push({ depth, isInList: false, hasValues: false })
    else if (isOwn && word === 'on' && !pivot.isInList) pivot.isInList = true
    else if (isOwn && word === 'in') pivot.hasValues = true
    else if (isOwn && word === ',') endColumn()
    else if (isOwn && (word === ')' || LIST_END.test(word))) {
      endColumn()
      pivots.pop()
    }
    if (token.kind === 'symbol' && word === '(') depth += 1
    if (token.kind === 'symbol' && word === ')') depth -= 1
    made.push(token)
  }
  endColumn()
  return made
}

const LIST_END = /^(using|group|order|limit)$/
