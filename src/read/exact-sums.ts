import { type Digits, PLAIN_KEY } from './exact-amounts.ts'
import type { Token } from './sql-tokens.ts'

/** The macro that sums decimals of any number of digits, which `withExactSums` calls. */
const EXACT_SUM = 'exact_sum'

/**
 * SQL for the macro: a sum of the type `ordered` (`DecimalType`), by integers of one scale. `exact_decimal` and `units_text` are
 * macros of the views.
 */
export function exactSumMacro({ fraction }: Digits): string {
  const plain = `struct_extract(amount, '${PLAIN_KEY}')`
  const zeros = `repeat('0', ${fraction} - length(split_part(${plain}, '.', 2)))`
  const scaled = `(replace(${plain}, '.', '') || ${zeros})::BIGNUM`
  // A lambda names the sum once: macros are expanded as text, and repeat their arguments.
  const text = `lambda total: exact_decimal(units_text(total, ${fraction}))`
  return `CREATE MACRO ${EXACT_SUM}(amount) AS list_extract(list_transform([sum(${scaled})], ${text}), 1)`
}

/** SQL for a macro of the same type, for a database in which statements are only planned. */
export const PLANNED_SUM_MACRO = `CREATE MACRO ${EXACT_SUM}(amount) AS max(amount)`

/**
 * Rewrites `sum(amount)` and `sum(units(…))` to calls of the macro. Window functions, filters and pivots, which take no macros,
 * are not changed.
 */
export function withExactSums(tokens: readonly Token[]): readonly Token[] {
  const words = tokens.filter(({ kind }) => kind !== 'space')
  if (words.some(({ text }) => /^pivot$/i.test(text))) return tokens
  const sums = new Set(words.filter((_, at) => isSumOfAmounts(words, at)))
  if (sums.size === 0) return tokens
  return tokens.map((token) => (sums.has(token) ? { ...token, text: EXACT_SUM } : token))
}

function isSumOfAmounts(words: readonly Token[], at: number): boolean {
  if (!/^sum$/i.test(words[at]?.text ?? '') || words[at + 1]?.text !== '(') return false
  const end = closingOf(words, at + 1)
  const [first, ...rest] = words.slice(at + 2, end).map(({ text }) => text.toLowerCase())
  const isUnits = first === 'units' && closingOf(words, at + 3) === end - 1
  const isAmount =
    [first, ...rest]
      .join('')
      .replaceAll('"', '')
      .replace(/^[^.]+\./, '') === 'amount'
  return (isUnits || isAmount) && !/^(over|filter|within)$/i.test(words[end + 1]?.text ?? '')
}

/** The position of the parenthesis that closes the one at `open`. */
function closingOf(words: readonly Token[], open: number): number {
  let depth = 0
  for (let at = open; at < words.length; at += 1) {
    if (words[at]?.text === '(') depth += 1
    if (words[at]?.text === ')') depth -= 1
    if (depth === 0) return at
  }
  return words.length
}

/** The name of a column as the statement of the user would name it. */
export const withoutExactSum = (name: string): string => name.replaceAll(`${EXACT_SUM}(`, 'sum(')
