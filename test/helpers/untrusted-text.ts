import { type FaultyResponse, withChangedPage } from './faults.ts'

/** Malicious token names, and texts that break careless parsers and writers. */
export const HOSTILE_TEXTS: readonly string[] = [
  '=1+1',
  '+1',
  '-1+1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  ' =1',
  '"=1"',
  '=HYPERLINK("http://127.0.0.1","x")',
  '"',
  '""',
  "'",
  ',',
  ';',
  '\n',
  '\r\n',
  'a\nb',
  '"\n"',
  '","',
  '\\',
  '\\N',
  'NULL',
  'null',
  'NaN',
  '\u001b[2J\u001b[31m',
  '\u001b]0;title\u0007',
  '\u009b31m',
  '\u0007',
  '\b\b\b',
  '\u0085',
  '\u2028',
  '\u0000',
  'nul\u0000inside',
  '\u202etxt.exe',
  '\u2066\u2069',
  '\u200b',
  '\ufeff',
  '\ud800',
  'x\udfff',
  '__proto__',
  'constructor',
  'toString',
  '%s%n',
  '$' + '{1}',
  '<script>',
  '../../../etc/passwd',
  '😀'.repeat(99),
  'x'.repeat(1_000_000),
]

/** Fields with untrusted text. */
const UNTRUSTED_FIELDS =
  /^(name|symbol|methodName|tokenUri|indexStatus|currencyCode|description|imageUri|animationUri|externalUrl|background|attributes|properties)$/

/** A page with hostile text in all untrusted fields. The text depends only on the item and the field. */
export const hostileNames: FaultyResponse = withChangedPage(({ transactions, ...page }) => ({
  ...page,
  transactions: transactions.map((item) => {
    const hash = String(item.nativeTransaction.txHash)
    return poison(item, Number.parseInt(hash.slice(-6), 16))
  }),
}))

function poison(value: unknown, seed: number): typeof value & { nativeTransaction: Record<string, unknown> } {
  const poisoned = (part: unknown, at: number): unknown => {
    if (Array.isArray(part)) return part.map((entry, index) => poisoned(entry, at + index))
    if (typeof part !== 'object' || part === null) return part
    const entries = Object.entries(part).map(([key, inside], index) => {
      const hostile = UNTRUSTED_FIELDS.test(key) && typeof inside !== 'object'
      return [
        key,
        hostile ? HOSTILE_TEXTS[(at + index) % HOSTILE_TEXTS.length] : poisoned(inside, at * 7 + index),
      ]
    })
    return Object.fromEntries([...entries, ['__proto__', { polluted: true }]])
  }
  return poisoned(value, seed) as never
}

/**
 * Control, format and separator characters, which can move the cursor, ring the bell, hide text or change its
 * direction.
 */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u
