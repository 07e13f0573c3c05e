import { nearest } from '../../core/model/suggest.ts'
import { against, type Complain } from '../diagnostics.ts'
import { type Given, textOf } from '../resolve/raw-value.ts'

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
  expected: string | ((given: Given) => string)
  accept: (given: Given) => T | undefined
  suggest?: (given: Given) => string | undefined
}): Kind<T> {
  const parse = (given: Given, complain: Complain) => {
    if (given.isRefused) return undefined
    const accepted = rule.accept(given)
    if (accepted !== undefined) return accepted
    const expected = typeof rule.expected === 'string' ? rule.expected : rule.expected(given)
    complain(against(given, expected, rule.suggest?.(given)))
    return undefined
  }
  return { schema: rule.schema, parse }
}

/** Text that a pattern matches. */
export function matching(
  pattern: RegExp,
  expected: string,
  suggest: (text: string) => string | undefined = () => undefined,
): Kind<string> {
  return accepting({
    schema: { type: 'string', pattern: pattern.source },
    expected,
    accept: ({ value }) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
    suggest: (given) => {
      const text = textOf(given) ?? ''
      return typeof given.value !== 'string' && pattern.test(text) ? text : suggest(text)
    },
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\u0000-\u001f\u007f]/

const BOOLEAN_WORDS: ReadonlyMap<string, string> = new Map([
  ...['yes', 'on', 'true'].map((word) => [word, 'true'] as const),
  ...['no', 'off', 'false'].map((word) => [word, 'false'] as const),
])
