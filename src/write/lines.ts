import type { Cell, Row } from '../table/index.ts'

/** Rows as text, each a line with its end. */
export type Lines = {
  text: string
  rows: number
  /** Characters in the longest line. */
  longest: number
}

/** Turns rows of one table into lines. */
export type LineMaker = (rows: readonly Row[]) => Lines

export function joinLines(rows: readonly Row[], lineOf: (row: Row) => string): Lines {
  let [text, longest] = ['', 0]
  for (const row of rows) {
    const line = lineOf(row)
    text += line
    if (line.length > longest) longest = line.length
  }
  return { text, rows: rows.length, longest }
}

/** ISO text of an instant in milliseconds since 1970. */
export function isoTime(cell: Cell): string {
  return new Date(Number(cell)).toISOString()
}

/** Makes no text twice in a row: the rows of a transaction, and those of a wallet, share many of their cells. */
export function sameAgain<T extends Cell>(make: (cell: T) => string): (cell: Cell) => string {
  let last: Cell = null
  let text = ''
  return (cell) => {
    if (cell === last) return text
    last = cell
    text = make(cell as T)
    return text
  }
}
