import { suggest } from '../../core/model/suggest.ts'
import { invalidValue, type ReportDiagnostic } from '../diagnostics.ts'
import { type RawValue, textOf } from '../resolve/raw-value.ts'

/** Keywords of JSON Schema. */
export type SchemaPart = { readonly [keyword: string]: unknown }

/** What a field accepts: for the reader, for editors and for messages, in one place. */
export type FieldType<T> = {
  readonly schema: SchemaPart
  /** The value, or undefined after a complaint. */
  readonly parse: (raw: RawValue, report: ReportDiagnostic) => T | undefined
}

/** A kind from a function that accepts or not, and says what it expected. */
export function fieldType<T>(rule: {
  schema: SchemaPart
  expected: string | ((raw: RawValue) => string)
  accept: (raw: RawValue) => T | undefined
  suggest?: (raw: RawValue) => string | undefined
}): FieldType<T> {
  const parse = (raw: RawValue, report: ReportDiagnostic) => {
    if (raw.isInvalid) return undefined
    const accepted = rule.accept(raw)
    if (accepted !== undefined) return accepted
    const expected = typeof rule.expected === 'string' ? rule.expected : rule.expected(raw)
    report(invalidValue(raw, expected, rule.suggest?.(raw)))
    return undefined
  }
  return { schema: rule.schema, parse }
}

/** Text that a pattern matches. */
export function textMatching(
  pattern: RegExp,
  expected: string,
  suggest: (text: string) => string | undefined = () => undefined,
): FieldType<string> {
  return fieldType({
    schema: { type: 'string', pattern: pattern.source },
    expected,
    accept: ({ value }) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
    suggest: (raw) => {
      const text = textOf(raw) ?? ''
      return typeof raw.value !== 'string' && pattern.test(text) ? text : suggest(text)
    },
  })
}

/** Free text of 1 to so many characters: no control characters, not only blanks, valid Unicode. */
export function freeText(maxCharacters: number): FieldType<string> {
  return fieldType({
    schema: { type: 'string', maxLength: maxCharacters, pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$' },
    expected: freeTextExpected(maxCharacters),
    accept: ({ value }) =>
      typeof value === 'string' && isFreeText(value, maxCharacters) ? value : undefined,
    suggest: (raw) => (typeof raw.value === 'string' ? undefined : textOf(raw)),
  })
}

export function isFreeText(text: string, maxCharacters: number): boolean {
  return (
    text.trim() !== '' &&
    [...text].length <= maxCharacters &&
    text.isWellFormed() &&
    !CONTROL_CHARACTERS.test(text)
  )
}

export function freeTextExpected(maxCharacters: number): string {
  return `text of 1 to ${maxCharacters} characters, none of them a control character`
}

/** One word of a few. */
export function oneOf<T extends string>(choices: readonly T[]): FieldType<T> {
  return fieldType({
    schema: { enum: choices },
    expected: `one of ${choices.join(', ')}`,
    accept: ({ value }) => choices.find((choice) => choice === value),
    suggest: (raw) => suggest(textOf(raw) ?? '', choices),
  })
}

export function booleanField(): FieldType<boolean> {
  return fieldType({
    schema: { type: 'boolean' },
    expected: 'true or false',
    accept: ({ value }) => (typeof value === 'boolean' ? value : undefined),
    suggest: ({ value }) => (typeof value === 'string' ? BOOLEAN_WORDS.get(value.toLowerCase()) : undefined),
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/

const BOOLEAN_WORDS: ReadonlyMap<string, string> = new Map([
  ...['yes', 'on', 'true'].map((word) => [word, 'true'] as const),
  ...['no', 'off', 'false'].map((word) => [word, 'false'] as const),
])
