/** First characters of formulas in a spreadsheet, and the `'` that is prefixed to them. */
const FORMULA_STARTS = "=+-@\t\r'"
/**
 * Also matches formulas after a `'`. These get another `'`, so that removing one restores the original text.
 */
const FORMULA = /^'*[=+\-@\t\r]/
const SPECIAL = /[",\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/** Whether a spreadsheet would evaluate the text as a formula (or would without its leading `'`). */
export function isFormula(text: string): boolean {
  return FORMULA_STARTS.includes(text.charAt(0)) && FORMULA.test(text)
}

/** Whether a CSV field with this text must be quoted (RFC 4180). */
export const needsQuotes = (text: string): boolean => SPECIAL.test(text)

export const quoteCsv = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** A CSV field: null is empty, and formulas are prefixed with `'` unless they are numbers. */
function csvField(text: string | null): string {
  if (text === null) return ''
  const safe = isFormula(text) && !NUMBER.test(text) ? `'${text}` : text
  return needsQuotes(safe) || safe === '' || safe.startsWith('\ufeff') ? quoteCsv(safe) : safe
}

/** A CSV line, including its line feed. */
export const csvLine = (fields: readonly (string | null)[]): string => `${fields.map(csvField).join(',')}\n`
