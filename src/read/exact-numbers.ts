import { ExportError } from '../core/model/errors.ts'
import type { Token } from './sql-tokens.ts'

/** Digits that DuckDB's DECIMAL holds. */
export const DECIMAL_DIGITS = 38
/** DuckDB reads larger whole numbers as floating point. */
const MAX_UHUGEINT = 2n ** 128n - 1n
/** Digits that are written out in place of an exponent. */
const MAX_EXPANDED_DIGITS = 400

/**
 * SQL text in which the numbers are exact. DuckDB reads a number with an exponent, a whole number of 2^128 or more and a
 * decimal of more than 38 digits as floating point, and then compares in floating point: `value > 1e18` would be false for
 * 10^18 + 1. A number next to `*`, `/`, `%` or `^` stays as it is, because these compute in floating point anyway.
 *
 * Throws USAGE for a decimal of more than 38 digits.
 */
export function withExactNumbers(tokens: readonly Token[]): string {
  const words = tokens.filter(({ kind }) => kind !== 'space')
  const isFactor = (token: Token) => {
    const at = words.indexOf(token)
    return [words[at - 1], words[at + 1]].some((one) => one?.kind === 'symbol' && /^[*/%^]$/.test(one.text))
  }
  return tokens
    .map((token) => (token.kind === 'number' ? exactLiteral(token.text, () => isFactor(token)) : token.text))
    .join('')
}

function exactLiteral(text: string, isFactor: () => boolean): string {
  const [, whole = '', fraction = '', exponent] =
    /^(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text.replaceAll('_', '')) ?? []
  if (whole + fraction === '' || (exponent !== undefined && isFactor())) return text
  if (exponent === undefined && fraction === '' && !text.includes('.')) return integerLiteral(whole, text)
  const digits = whole + fraction
  const point = whole.length + Number(exponent ?? 0)
  if (Math.abs(point) > MAX_EXPANDED_DIGITS) return text
  const padded = digits.padStart(digits.length - Math.min(point, 0), '0').padEnd(point, '0')
  const split = Math.max(point, 0)
  const rest = padded.slice(split)
  if (exponent !== undefined && /^0*$/.test(rest)) return integerLiteral(padded.slice(0, split) || '0')
  return decimalLiteral(padded.slice(0, split) || '0', rest, text)
}

/** `written` is how the number stands in the statement, where it may stay so. */
function integerLiteral(digits: string, sourceText = digits): string {
  const plain = digits.replace(/^0+(?=\d)/, '')
  return BigInt(plain) > MAX_UHUGEINT ? `('${plain}'::BIGNUM)` : sourceText
}

function decimalLiteral(whole: string, fraction: string, sourceText: string): string {
  const digits = `${whole}${fraction}`.replace(/^0+/, '').length
  if (Math.max(digits, fraction.length) > DECIMAL_DIGITS) {
    if (/e/i.test(sourceText)) return sourceText
    throw new ExportError('USAGE', `${sourceText} has more than ${DECIMAL_DIGITS} digits`, {
      fix: "DuckDB's exact decimals end there. Compare in the smallest unit instead, as in value > 1500000.",
    })
  }
  return /e/i.test(sourceText) ? `${whole}.${fraction}` : sourceText
}
