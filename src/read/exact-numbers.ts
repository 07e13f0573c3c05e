import { ExportError } from '../core/model/errors.ts'
import type { Token } from './sql-tokens.ts'

/** Maximum digits of DuckDB's DECIMAL. */
export const DECIMAL_DIGITS = 38
/** Largest integer literal of DuckDB; larger ones become floating point. */
const MAX_UHUGEINT = 2n ** 128n - 1n
/** Maximum number of digits when an exponent is expanded. */
const MAX_EXPANDED_DIGITS = 400

/**
 * Rewrites SQL so that number literals are exact. DuckDB reads a literal with an exponent, an integer of
 * 2^128 or more and a decimal of more than 38 digits as floating point, and then compares in floating point:
 * `value > 1e18` would be false for 10^18 + 1. A literal next to `*`, `/`, `%` or `^` is not changed, because
 * these operators compute in floating point anyway.
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

/** `sourceText` is the literal in the statement, which is used if it is exact. */
function integerLiteral(digits: string, sourceText = digits): string {
  const plain = digits.replace(/^0+(?=\d)/, '')
  return BigInt(plain) > MAX_UHUGEINT ? `('${plain}'::BIGNUM)` : sourceText
}

function decimalLiteral(whole: string, fraction: string, sourceText: string): string {
  const digits = `${whole}${fraction}`.replace(/^0+/, '').length
  if (Math.max(digits, fraction.length) > DECIMAL_DIGITS) {
    if (/e/i.test(sourceText)) return sourceText
    throw new ExportError('USAGE', `${sourceText} has more than ${DECIMAL_DIGITS} digits`, {
      fix: 'DuckDB supports no more in exact decimals. Compare in the smallest unit instead, as in value > 1500000.',
    })
  }
  return /e/i.test(sourceText) ? `${whole}.${fraction}` : sourceText
}
