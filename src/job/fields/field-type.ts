import * as v from 'valibot'
import { suggest } from '../../core/model/suggest.ts'
import {
  invalidValue,
  type Problem,
  type RawContent,
  type RawOrigin,
  type RawValue,
  type ReportDiagnostic,
  textOf,
} from '../diagnostics.ts'

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

/** Creates a type that accepts or rejects a value as a whole. */
export function fieldType<T, Written = T>({
  problem,
  accept = (raw) => valueIn(raw, type.parsed),
  ...type
}: Omit<FieldType<T, Written>, 'parse'> & {
  problem: string | ((raw: RawValue) => Problem)
  /** @default the values that have the shape of a parsed value */
  accept?: (raw: RawValue) => T | undefined
}): FieldType<T, Written> {
  const parse = (raw: RawValue, report: ReportDiagnostic) => {
    const accepted = raw.isInvalid ? undefined : accept(raw)
    if (accepted === undefined && !raw.isInvalid)
      report(invalidValue(raw, typeof problem === 'string' ? problem : problem(raw)))
    return accepted
  }
  return { ...type, parse }
}

function valueIn<T>({ value }: RawValue, shape: v.GenericSchema<T>): T | undefined {
  const result = v.safeParse(shape, value)
  return result.success ? result.output : undefined
}

/** Text that a pattern matches. */
export function textMatching<T extends string = string>(
  pattern: RegExp,
  expected: string,
  suggest: (text: string) => string | undefined = () => undefined,
): FieldType<T> {
  return fieldType({
    schema: { type: 'string', pattern: pattern.source },
    parsed: v.custom<T>((value) => typeof value === 'string' && pattern.test(value)),
    problem: (raw) => {
      const text = textOf(raw) ?? ''
      const isUnquoted = typeof raw.value !== 'string' && pattern.test(text)
      return { expected, didYouMean: isUnquoted ? text : suggest(text) }
    },
  })
}

/** Text that stands for a number from `min` to `max`, inclusive, such as a duration. */
export function numberText({
  pattern,
  range: [min, max],
  expected,
  convert,
  suggest,
}: {
  pattern: string
  range: readonly [min: number, max: number]
  expected: string
  convert: (text: string) => number | undefined
  suggest: (text: string) => string | undefined
}): FieldType<number, string> {
  const parsed = v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(max))
  return fieldType({
    schema: { type: 'string', pattern },
    parsed,
    accept: (raw) =>
      typeof raw.value === 'string'
        ? valueIn({ ...raw, value: convert(raw.value) ?? null }, parsed)
        : undefined,
    problem: (raw) => ({ expected, didYouMean: suggest(textOf(raw) ?? '') }),
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
    problem: (raw) => ({
      expected: freeTextExpected(maxCharacters),
      didYouMean: typeof raw.value === 'string' ? undefined : textOf(raw),
    }),
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
    problem: (raw) => ({
      expected: `one of ${choices.join(', ')}`,
      didYouMean: suggest(textOf(raw) ?? '', choices),
    }),
  })
}

export function booleanField(): FieldType<boolean> {
  return fieldType({
    schema: { type: 'boolean' },
    parsed: v.boolean(),
    problem: ({ value }) => ({
      expected: 'true or false',
      didYouMean: typeof value === 'string' ? BOOLEAN_WORDS.get(value.toLowerCase()) : undefined,
    }),
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/

const BOOLEAN_WORDS: ReadonlyMap<string, string> = new Map([
  ...['yes', 'on', 'true'].map((word) => [word, 'true'] as const),
  ...['no', 'off', 'false'].map((word) => [word, 'false'] as const),
])

/** An integer from `min` to `max`, inclusive. `whenOmitted` describes the default in diagnostics. */
export function integer(min: number, max: number, whenOmitted?: string): FieldType<number> {
  const isTooLarge = (value: unknown) => isNumber(value) && value > max
  const expected = ({ value }: RawValue) => {
    const isOpen = max === Number.MAX_SAFE_INTEGER && !isTooLarge(value)
    const range = `an integer, ${isOpen ? `${min} or more` : `${min} to ${max}`}`
    if (typeof value !== 'string') return range
    if (DATE.test(value)) return `${range}: a number, not a date`
    return whenOmitted === undefined || /\d/.test(value)
      ? range
      : `${range} (without the field: ${whenOmitted})`
  }
  return fieldType({
    schema: { type: 'integer', minimum: min, maximum: max },
    parsed: v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(max)),
    accept: ({ value }) => {
      const number = Number(isNumber(value) ? value : Number.NaN)
      return Number.isSafeInteger(number) && number >= min && number <= max ? number + 0 : undefined
    },
    problem: (raw) => ({
      expected: expected(raw),
      didYouMean: typeof raw.value === 'string' ? suggestInteger(raw.value) : undefined,
    }),
    fromTexts: ([text = '']) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
  })
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

const DATE = /^\d{4}-\d\d(-\d\d)?/

/** Suggests the number for text with thousands separators or a trailing comma, or in hexadecimal notation. */
function suggestInteger(text: string): string | undefined {
  if (/^0x[0-9a-f]{1,13}$/i.test(text)) return String(Number(text))
  return /^(\d{1,15}|\d{1,3}([_, .']\d{3})+),?$/.exec(text)?.[1]?.replace(/\D/g, '')
}

/** A list of distinct words, each of the type `item`. `problem` describes a value that is no such list. */
export function listOf<T extends string>(
  item: FieldType<T>,
  {
    noun,
    minItems,
    sort,
    problem,
  }: {
    noun: string
    minItems?: number
    sort: (items: ReadonlySet<T>) => readonly T[]
    problem: (raw: RawValue) => Problem
  },
): FieldType<readonly T[]> {
  return {
    schema: {
      type: 'array',
      ...(minItems === undefined ? {} : { minItems }),
      uniqueItems: true,
      items: item.schema,
    },
    parsed: v.pipe(v.array(item.parsed), v.minLength(minItems ?? 0)),
    fromTexts: (texts, origin) => splitNames(texts).map((value) => ({ ...origin, value })),
    parse: (raw, report) => {
      if (raw.isInvalid) return undefined
      if (!Array.isArray(raw.value) || raw.value.length < (minItems ?? 0)) {
        report(invalidValue(raw, problem(raw)))
        return undefined
      }
      const items = new Set<T>()
      for (const entry of raw.value) {
        const value = item.parse(entry, report)
        if (value !== undefined && items.has(value)) report(invalidValue(entry, `each ${noun} once`))
        if (value !== undefined) items.add(value)
      }
      return sort(items)
    },
  }
}

/** Splits texts that may contain several comma-separated names. */
export function splitNames(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',').map((name) => name.trim()))
}
