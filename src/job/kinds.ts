import { nearest } from '../core/nearest.ts'
import { against, type Complain } from './complaints.ts'
import { durationMs } from './duration.ts'
import { type Given, textOf } from './given.ts'

/** Keywords of JSON Schema. */
export type SchemaPart = { readonly [keyword: string]: unknown }

/** What a field accepts: for the reader, for editors and for messages, in one place. */
export type Kind<T> = {
  readonly schema: SchemaPart
  /** The value, or undefined after a complaint. */
  readonly parse: (given: Given, complain: Complain) => T | undefined
}

/** A kind from a function that accepts or not, and says what it expected. */
export function accepting<T>(rule: {
  schema: SchemaPart
  expected: string
  accept: (given: Given) => T | undefined
  suggest?: (given: Given) => string | undefined
}): Kind<T> {
  const parse = (given: Given, complain: Complain) => {
    const accepted = rule.accept(given)
    if (accepted === undefined) complain(against(given, rule.expected, rule.suggest?.(given)))
    return accepted
  }
  return { schema: rule.schema, parse }
}

/** Text that a pattern matches. */
export function matching(pattern: RegExp, expected: string): Kind<string> {
  return accepting({
    schema: { type: 'string', pattern: pattern.source },
    expected,
    accept: ({ value }) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
  })
}

/** Free text of 1 to so many characters: no control characters, not only blanks, valid Unicode. */
export function freeText(maxCharacters: number): Kind<string> {
  return accepting({
    schema: { type: 'string', maxLength: maxCharacters, pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$' },
    expected: freeTextExpected(maxCharacters),
    accept: ({ value }) =>
      typeof value === 'string' && isFreeText(value, maxCharacters) ? value : undefined,
    suggest: (given) => (typeof given.value === 'string' ? undefined : textOf(given)),
  })
}

export function isFreeText(text: string, maxCharacters: number): boolean {
  return (
    text.trim() !== '' && [...text].length <= maxCharacters && text.isWellFormed() && !CONTROLS.test(text)
  )
}

export function freeTextExpected(maxCharacters: number): string {
  return `text of 1 to ${maxCharacters} characters, none of them a control character`
}

/** An integer between two bounds, both in it. */
export function wholeNumber(least: number, most: number): Kind<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`
  return accepting({
    schema: { type: 'integer', minimum: least, maximum: most },
    expected: `an integer, ${range}`,
    accept: ({ value }) => {
      const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN
      return Number.isSafeInteger(number) && number >= least && number <= most ? number + 0 : undefined
    },
    suggest: ({ value }) =>
      typeof value === 'string' ? /^\d{1,3}([_, ]?\d{3})*$/.exec(value)?.[0].replace(/\D/g, '') : undefined,
  })
}

/** One word of a few. */
export function oneOf<T extends string>(words: readonly T[]): Kind<T> {
  return accepting({
    schema: { enum: words },
    expected: `one of ${words.join(', ')}`,
    accept: ({ value }) => words.find((word) => word === value),
    suggest: (given) => nearest(textOf(given) ?? '', words),
  })
}

export function trueOrFalse(): Kind<boolean> {
  return accepting({
    schema: { type: 'boolean' },
    expected: 'true or false',
    accept: ({ value }) => (typeof value === 'boolean' ? value : undefined),
    suggest: ({ value }) => (typeof value === 'string' ? BOOLEAN_WORDS.get(value.toLowerCase()) : undefined),
  })
}

/** A duration such as `90s` between two bounds in milliseconds, both in it. */
export function duration(least: string, most: string): Kind<number> {
  const [leastMs = 0, mostMs = 0] = [durationMs(least), durationMs(most)]
  return accepting({
    schema: { type: 'string', pattern: `^${leastMs > 0 ? '0*[1-9]\\d*' : '\\d+'}(ms|s|m|h|d)$` },
    expected: `a duration from ${least} to ${most}, like 500ms, 90s, 10m, 1h or 2d`,
    accept: ({ value }) => {
      const ms = typeof value === 'string' ? durationMs(value) : undefined
      return ms !== undefined && ms >= leastMs && ms <= mostMs ? ms : undefined
    },
    suggest: (given) => (/^\d{1,9}$/.test(textOf(given) ?? '') ? `${textOf(given)}s` : undefined),
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\u0000-\u001f\u007f]/

const BOOLEAN_WORDS: ReadonlyMap<string, string> = new Map([
  ...['yes', 'on', 'true'].map((word) => [word, 'true'] as const),
  ...['no', 'off', 'false'].map((word) => [word, 'false'] as const),
])
