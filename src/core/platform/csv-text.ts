/** What a spreadsheet takes for the start of a formula, and the `'` that is put before it. */
const FORMULA_STARTS = "=+-@\t\r'"
/** A `'` that stood before a formula gets another one: whoever takes one away has the text as it was. */
const FORMULA = /^'*[=+\-@\t\r]/
const SPECIAL = /[",\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/** Whether a spreadsheet would run the text. */
export function isFormula(text: string): boolean {
  return FORMULA_STARTS.includes(text.charAt(0)) && FORMULA.test(text)
}

/** Whether a field of CSV with this text has to stand in quotes (RFC 4180). */
export const needsQuotes = (text: string): boolean => SPECIAL.test(text)

export const quoteCsv = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** A field of CSV: null is nothing, and a `'` stands before text that a spreadsheet would run; numbers stay as they are. */
function csvField(text: string | null): string {
  if (text === null) return ''
  const safe = isFormula(text) && !NUMBER.test(text) ? `'${text}` : text
  return needsQuotes(safe) || safe === '' || safe.startsWith('\ufeff') ? quoteCsv(safe) : safe
}

/** A line of CSV with its end. */
export const csvLine = (fields: readonly (string | null)[]): string => `${fields.map(csvField).join(',')}\n`
