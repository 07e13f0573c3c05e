import * as v from 'valibot'
import { suggest } from '../../core/model/suggest.ts'
import { invalidValue, type ReportDiagnostic } from '../diagnostics.ts'
import { type RawContent, type RawOrigin, type RawValue, textOf } from '../resolve/raw-value.ts'

/** Keywords of JSON Schema. */
export type SchemaPart = { readonly [keyword: string]: unknown }

/** The values that a field accepts. `Written` is their type in a job file, `T` their type after parsing. */
export type FieldType<T, Written = T> = {
  /** JSON Schema of the value in a job file. */
  readonly schema: SchemaPart
  /** Shape of the parsed value, for jobs that arrive as JSON from another machine. */
  readonly parsed: v.GenericSchema<T>
  /** Returns the parsed value, or undefined after it reported a diagnostic. */
  readonly parse: (raw: RawValue, report: ReportDiagnostic) => T | undefined
  /**
   * Converts the texts of an option or environment variable to what a job file would contain. A list reads all
   * texts of a repeated option, any other type has one. @default the text itself
   */
  readonly fromTexts?: (texts: readonly string[], origin: RawOrigin) => RawContent
  /** Never set: it only carries the type. */
  readonly written?: Written
}

/** One field of a job file: its meaning, the values that it accepts, and other ways to set it. */
export type Field<T> = FieldType<T> & {
  /** Description for editors, `walletlake schema job` and jobs/README.md. */
  readonly description: string
  /** The default as written in a job file, if it is a constant. */
  readonly default?: GivenValue
  /** Example values as written in a job file. */
  readonly examples: readonly unknown[]
  /** Words that people use for the field, in lower case, separated by spaces. An unknown key gets the field as a hint. */
  readonly synonyms?: string
  /** Command-line option that overrides the field. */
  readonly option?: FieldOption
  /** Environment variable that overrides the field in job files, but not the option. */
  readonly variable?: string
}

/** A value from outside of a job file: a default, or the value of an option or environment variable. */
export type GivenValue = string | number | boolean | readonly string[]

type FieldOption = {
  /**
   * In kebab case, without dashes. If it differs from the name of the field in camel case, `JobOverrides` declares the
   * property of the option.
   */
  readonly name: string
  /** Placeholder of the value in the help, such as `<n>`. Without it, the option is a flag that sets a boolean. */
  readonly value?: string
  /** Line in the help: sentence case, without a full stop. */
  readonly description: string
  /** The option may be given several times. */
  readonly repeatable?: true
  /** Only for jobs without a file: the option does not override job files. */
  readonly inline?: true
}

/** Creates a type that accepts or rejects a value as a whole, with one description of valid values and one suggestion. */
export function fieldType<T, Written = T>({
  expected,
  accept,
  suggest,
  ...type
}: Omit<FieldType<T, Written>, 'parse'> & {
  expected: string | ((raw: RawValue) => string)
  /** @default the values that have the shape of a parsed value */
  accept?: (raw: RawValue) => T | undefined
  suggest?: (raw: RawValue) => string | undefined
}): FieldType<T, Written> {
  const parse = (raw: RawValue, report: ReportDiagnostic) => {
    if (raw.isInvalid) return undefined
    const accepted = accept === undefined ? valueIn(raw, type.parsed) : accept(raw)
    if (accepted !== undefined) return accepted
    report(invalidValue(raw, typeof expected === 'string' ? expected : expected(raw), suggest?.(raw)))
    return undefined
  }
  return { ...type, parse }
}

function valueIn<T>({ value }: RawValue, shape: v.GenericSchema<T>): T | undefined {
  const result = v.safeParse(shape, value)
  return result.success ? result.output : undefined
}

/** Text that a pattern matches. */
export function textMatching(
  pattern: RegExp,
  expected: string,
  suggest: (text: string) => string | undefined = () => undefined,
): FieldType<string> {
  return fieldType({
    schema: { type: 'string', pattern: pattern.source },
    parsed: v.pipe(v.string(), v.regex(pattern)),
    expected,
    suggest: (raw) => {
      const text = textOf(raw) ?? ''
      return typeof raw.value !== 'string' && pattern.test(text) ? text : suggest(text)
    },
  })
}

/** Free text of 1 to `maxCharacters` characters: valid Unicode, no control characters, not only blanks. */
export function freeText(maxCharacters: number): FieldType<string> {
  return fieldType({
    schema: { type: 'string', maxLength: maxCharacters, pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$' },
    parsed: v.pipe(
      v.string(),
      v.check((text) => isFreeText(text, maxCharacters)),
    ),
    expected: freeTextExpected(maxCharacters),
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

/** One of several words. */
export function oneOf<const T extends string>(choices: readonly T[]): FieldType<T> {
  return fieldType({
    schema: { enum: choices },
    parsed: v.picklist(choices),
    expected: `one of ${choices.join(', ')}`,
    suggest: (raw) => suggest(textOf(raw) ?? '', choices),
  })
}

export function booleanField(): FieldType<boolean> {
  return fieldType({
    schema: { type: 'boolean' },
    parsed: v.boolean(),
    expected: 'true or false',
    suggest: ({ value }) => (typeof value === 'string' ? BOOLEAN_WORDS.get(value.toLowerCase()) : undefined),
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/

const BOOLEAN_WORDS: ReadonlyMap<string, string> = new Map([
  ...['yes', 'on', 'true'].map((word) => [word, 'true'] as const),
  ...['no', 'off', 'false'].map((word) => [word, 'false'] as const),
])
