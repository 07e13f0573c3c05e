import { stringify } from 'csv-stringify/sync'
import type { Column } from '../table/index.ts'
import { isoTime, joinLines, type LineMaker, sameAgain } from './lines.ts'

export type CsvLines = {
  /** Put a `'` before text that a spreadsheet would run as a formula. */
  escapeFormulas: boolean
}

/** The header row, with its line end. */
export function csvHeader(columns: readonly Column[]): string {
  return quoted(columns.map(({ name }) => name))
}

/**
 * Turns rows into CSV lines (CONTRACT section 3): RFC 4180 quoting, `\n`, null as an empty field. Columns are turned to
 * text by their type, so that numbers are never escaped and never rounded. A cell with nothing to quote is itself; any
 * other is csv-stringify's work.
 */
export function csvLines(columns: readonly Column[], { escapeFormulas }: CsvLines): LineMaker {
  const special = escapeFormulas ? /[",\r\n]|^[=+\-@\t]/ : /[",\r\n]/
  const rememberQuoted = remembered((text) =>
    quoted([escapeFormulas && FORMULA.test(text) ? `'${text}` : text]).slice(0, -1),
  )
  const textCell = (text: string) => (special.test(text) ? rememberQuoted(text) : text)
  const toText = columns.map(({ type }) =>
    sameAgain(type === 'text' ? textCell : type === 'time' ? isoTime : String),
  )
  return (rows) =>
    joinLines(rows, (row) => {
      let line = ''
      for (let at = 0; at < row.length; at += 1) {
        const cell = row[at] ?? null
        if (at > 0) line += ','
        if (cell !== null) line += toText[at]?.(cell)
      }
      return `${line}\n`
    })
}

const FORMULA = /^[=+\-@\t\r]/

function quoted(cells: readonly (string | null)[]): string {
  return stringify([cells as string[]], { record_delimiter: '\n', quoted_match: CARRIAGE_RETURN })
}

/** Quoted as RFC 4180 asks; csv-stringify by itself looks for the record delimiter only. */
const CARRIAGE_RETURN = /\r/

/** Cells that need quotes are few and come again and again (signatures of methods). */
function remembered(make: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const made = known.get(text) ?? make(text)
    if (text.length < 200 && known.size < 2_000) known.set(text, made)
    return made
  }
}
