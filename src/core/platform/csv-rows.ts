import { stringify } from 'csv-stringify/sync'
import { escapeFormula, QUOTED } from './csv-text.ts'

/**
 * Rows as CSV (RFC 4180, `\n` after each), the policy of every small CSV file. A null is an empty cell and an empty text is
 * `""`, so that readers can tell them apart. Text that a spreadsheet would run gets a `'` in front; numbers stay as they are.
 *
 * Table files and import files have their own writers, which are several times faster; their tests compare with this library.
 */
export function csvRows(rows: readonly (readonly (string | null)[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => (cell === null ? null : escapeFormula(cell))))
  return stringify(escaped, { record_delimiter: '\n', quoted_match: QUOTED, cast: { string: quoteEmpty } })
}

const quoteEmpty = (text: string) => (text === '' ? { value: text, quoted_empty: true } : text)
