import * as v from 'valibot'
import type { Field } from '../fields/field-type.ts'
import { FIELD_PATHS, FIELDS, type FieldPath, type FieldValue } from '../fields/fields.ts'
import { parseSources, type Values } from './config-sources.ts'
import { sourceOfDefaults } from './overrides.ts'

/** Top-level fields that `Job` has under another name or in another form. resolve.ts converts them. */
const CONVERTED = ['addresses', 'addressesFile', 'partitionBy', 'targetFileSize', 'finality'] as const

/** A field whose parsed value `Job` has under the same name. */
type PlainField = Exclude<FieldPath, (typeof CONVERTED)[number] | `${string}.${string}`>

/** The values of the plain fields. Those without a default may be undefined. */
type PlainValues = {
  [P in PlainField]: FieldValue<P> | ((typeof FIELDS)[P] extends { default: unknown } ? never : undefined)
}

const DEFAULTS = parseSources([sourceOfDefaults()], () => undefined)
const PLAIN_FIELDS = FIELD_PATHS.filter(isPlain)

function isPlain(path: FieldPath): path is PlainField {
  return !path.includes('.') && !CONVERTED.some((converted) => converted === path)
}

/** Returns the value or the default of each plain field. */
export function plainValues(values: Values): PlainValues {
  const entries = PLAIN_FIELDS.map((path) => [path, values[path]?.value ?? DEFAULTS[path]?.value])
  return Object.fromEntries(entries)
}

/** Returns the schemas of the plain fields, to validate jobs that arrive as JSON from another machine. */
export function plainShapes(): { [P in PlainField]: v.GenericSchema<PlainValues[P]> } {
  const entries = PLAIN_FIELDS.map((path) => {
    const { parsed, default: fallback }: Field<unknown> = FIELDS[path]
    return [path, fallback === undefined ? v.optional(parsed) : parsed]
  })
  return Object.fromEntries(entries)
}
