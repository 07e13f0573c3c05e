import { stringify } from 'csv-stringify/sync'
import { escapeFormula, QUOTED } from './csv-text.ts'

/**
 * Formats rows of small CSV files (RFC 4180, `\n` after each row). Null is an empty cell and empty text is `""`, so that
 * readers can distinguish them. Text that a spreadsheet would evaluate as a formula is prefixed with `'`; numbers are not.
 *
 * Table files and import files have their own writers, which are several times faster; their tests compare with this library.
 */
export function csvRows(rows: readonly (readonly (string | null)[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => (cell === null ? null : escapeFormula(cell))))
  return stringify(escaped, { record_delimiter: '\n', quoted_match: QUOTED, cast: { string: quoteEmpty } })
}

const quoteEmpty = (text: string) => (text === '' ? { value: text, quoted_empty: true } : text)
