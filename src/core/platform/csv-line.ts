import { escapeFormula, needsQuotes, QUOTED, quoteCsv } from './csv-text.ts'

/**
 * A line of CSV as `csvRows` writes it, for many rows and for the page of the HTML report: the library of `csvRows` takes
 * several times as long, and would add 100 kB to every report.
 */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(csvCell).join(',')}\n`

function csvCell(text: string | null): string {
  if (text === null) return ''
  const escaped = escapeFormula(text)
  return escaped === '' || needsQuotes(escaped) || QUOTED.test(escaped) ? quoteCsv(escaped) : escaped
}
