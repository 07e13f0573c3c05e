import { stringify } from 'csv-stringify/sync'
import type { Cell, Column } from '../table/index.ts'
import { joinLines, type LineMaker } from './lines.ts'

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
  const toText = columns.map(({ type }) => (type === 'time' ? isoTime() : String))
  const isText = columns.map(({ type }) => type === 'text')
  const special = escapeFormulas ? /[",\r\n]|^[=+\-@\t]/ : /[",\r\n]/
  const rememberQuoted = remembered((text) =>
    quoted([escapeFormulas && FORMULA.test(text) ? `'${text}` : text]).slice(0, -1),
  )
  return (rows) =>
    joinLines(rows, (row) => {
      let line = ''
      for (let at = 0; at < row.length; at += 1) {
        const cell = row[at] ?? null
        if (at > 0) line += ','
        if (cell === null) continue
        const text = toText[at]?.(cell) ?? ''
        line += isText[at] && special.test(text) ? rememberQuoted(text) : text
      }
      return `${line}\n`
    })
}

const FORMULA = /^[=+\-@\t\r]/

/** ISO text of an instant; a transaction's rows ask for the same one again and again. */
function isoTime(): (cell: Cell) => string {
  let last: Cell = null
  let text = ''
  return (cell) => {
    if (cell !== last) {
      last = cell
      text = new Date(Number(cell)).toISOString()
    }
    return text
  }
}

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
