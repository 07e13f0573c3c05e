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

/** A formula after line feeds, which some spreadsheets drop. */
const FORMULA_AFTER_LINE = /^'*\n+[=+\-@]/

/**
 * Puts a `'` before text that a spreadsheet would evaluate as a formula. Numbers are not changed. Table files use `isFormula`
 * alone, because readers of earlier exports remove only the `'` that it writes.
 */
export const escapeFormula = (text: string): string =>
  (isFormula(text) && !NUMBER.test(text)) || FORMULA_AFTER_LINE.test(text) ? `'${text}` : text

/**
 * Text that is quoted although RFC 4180 does not require it: with a single carriage return, or with a leading U+FEFF, which
 * readers would take for a byte order mark.
 */
export const QUOTED = /\r|^\ufeff/
