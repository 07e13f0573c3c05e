import * as v from 'valibot'
import type { Field } from '../fields/field-type.ts'
import { FIELD_PATHS, FIELDS, type FieldPath, type FieldValue } from '../fields/fields.ts'
import { parseSources, type Values } from './config-sources.ts'
import { sourceOfDefaults } from './overrides.ts'

/** Top-level fields that a job has under another name or in another form: resolve.ts converts them. */
const CONVERTED = ['addresses', 'addressesFile', 'partitionBy', 'targetFileSize', 'finality'] as const

/** A field that a job has under its own name, as parsed. */
type PlainField = Exclude<FieldPath, (typeof CONVERTED)[number] | `${string}.${string}`>

/** The properties of a job that are fields under their own names. Those without a default may be undefined. */
type PlainValues = {
  [P in PlainField]: FieldValue<P> | ((typeof FIELDS)[P] extends { default: unknown } ? never : undefined)
}

const DEFAULTS = parseSources([sourceOfDefaults()], () => undefined)
const PLAIN_FIELDS = FIELD_PATHS.filter(isPlain)

function isPlain(path: FieldPath): path is PlainField {
  return !path.includes('.') && !CONVERTED.some((converted) => converted === path)
}

/** The given value of each plain field, or its default. */
export function plainValues(values: Values): PlainValues {
  const entries = PLAIN_FIELDS.map((path) => [path, values[path]?.value ?? DEFAULTS[path]?.value])
  return Object.fromEntries(entries)
}

/** The shapes of these properties, for jobs that arrive as JSON from another machine. */
export function plainShapes(): { [P in PlainField]: v.GenericSchema<PlainValues[P]> } {
  const entries = PLAIN_FIELDS.map((path) => {
    const { parsed, default: fallback }: Field<unknown> = FIELDS[path]
    return [path, fallback === undefined ? v.optional(parsed) : parsed]
  })
  return Object.fromEntries(entries)
}
