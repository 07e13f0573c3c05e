import * as v from 'valibot'
import type { RawValue, ReportDiagnostic } from '../diagnostics.ts'
import type { Field } from '../fields/field-type.ts'
import { FIELD_PATHS, FIELDS, type FieldPath, type FieldValue } from '../fields/fields.ts'
import { type ConfigSource, sourceOfDefaults } from './overrides.ts'

/** A field that a source sets. `value` is undefined if it is invalid; a diagnostic was then reported. */
type GivenField<P extends FieldPath> = { readonly raw: RawValue; readonly value: FieldValue<P> | undefined }
export type GivenFields = { readonly [P in FieldPath]?: GivenField<P> }

/** Parses all fields of all sources. If several sources set a field, the first of them takes precedence. */
export function parseSources(sources: readonly ConfigSource[], report: ReportDiagnostic): GivenFields {
  const given = FIELD_PATHS.flatMap((path) => {
    const raws = sources.flatMap((source) => source.get(path) ?? [])
    const fields = raws.map((raw) => ({
      raw,
      value: raw.isInvalid ? undefined : FIELDS[path].parse(raw, report),
    }))
    return fields.slice(0, 1).map((field) => [path, field])
  })
  return Object.fromEntries(given)
}

/** The value of every field: the given one, or the default. Fields without a default may be undefined. */
export type Settings = {
  [P in FieldPath]: FieldValue<P> | ((typeof FIELDS)[P] extends { default: unknown } ? never : undefined)
}

const DEFAULTS = parseSources([sourceOfDefaults()], () => undefined)

export function settingsOf(given: GivenFields): Settings {
  const entries = FIELD_PATHS.map((path) => [path, given[path]?.value ?? DEFAULTS[path]?.value])
  return Object.fromEntries(entries)
}

/** Top-level fields that `Job` has under another name or in another form. resolve.ts converts them. */
const CONVERTED = ['addresses', 'addressesFile', 'partitionBy', 'targetFileSize', 'finality'] as const

/** A field whose value `Job` has under the same name. */
type PlainField = Exclude<FieldPath, (typeof CONVERTED)[number] | `${string}.${string}`>

const PLAIN_FIELDS = FIELD_PATHS.filter(
  (path): path is PlainField => !path.includes('.') && !CONVERTED.some((converted) => converted === path),
)

export function plainSettings(settings: Settings): Pick<Settings, PlainField> {
  return Object.fromEntries(PLAIN_FIELDS.map((path) => [path, settings[path]])) as Pick<Settings, PlainField>
}

/** Returns the schemas of the plain fields, to validate jobs that arrive as JSON from another machine. */
export function plainShapes(): { [P in PlainField]: v.GenericSchema<Settings[P]> } {
  const entries = PLAIN_FIELDS.map((path) => {
    const { parsed, default: fallback }: Field<unknown> = FIELDS[path]
    return [path, fallback === undefined ? v.optional(parsed) : parsed]
  })
  return Object.fromEntries(entries)
}
