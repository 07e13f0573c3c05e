import type { Cell, Column, Row } from '../table/index.ts'
import { isoTime, joinLines, type LineMaker, sameAgain } from './lines.ts'

/** Turns rows into the JSON lines from which Parquet is made. Keys are positions: short, and never a stranger's word. */
export function stagedLines(columns: readonly Column[]): LineMaker {
  const keys = columns.map((_, at) => `${at === 0 ? '{' : ','}"${at}":`)
  const toText = columns.map(({ type }) =>
    sameAgain(type === 'time' ? (cell) => `"${isoTime(cell)}"` : quote),
  )
  const lineOf = (row: Row): string => {
    let line = ''
    for (let at = 0; at < row.length; at += 1) {
      const cell = row[at] ?? null
      line += keys[at]
      line += cell === null ? 'null' : toText[at]?.(cell)
    }
    return `${line}}\n`
  }
  return (rows) => joinLines(rows, lineOf)
}

/** Text without anything to escape is itself between quotes. */
function quote(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell)
  return ESCAPED.test(cell) ? JSON.stringify(cell) : `"${cell}"`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what JSON escapes
const ESCAPED = /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/
