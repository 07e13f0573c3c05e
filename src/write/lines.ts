import type { Row } from '../table/index.ts'

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
