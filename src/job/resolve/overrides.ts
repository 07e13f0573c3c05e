import type { RawContent, RawOrigin, RawValue } from '../diagnostics.ts'
import type { Field, GivenValue } from '../fields/field-type.ts'
import { FIELD_OPTIONS, FIELD_PATHS, FIELDS, type FieldPath, type WrittenValue } from '../fields/fields.ts'

/**
 * Values that override the fields of a job file, and are checked like them. Each property has the name of its option in
 * camel case. Numbers may be given as text of digits. A text in `tables` may contain several names, separated by commas.
 */
export type JobOverrides = OverridesOf<Exclude<OverriddenField, RenamedField>> & {
  /** Wallets, each `0x…` or `0x…=label`. */
  readonly address?: readonly string[] | undefined
  /** Base URL of the data service (http or https), or `demo`. */
  readonly baseUrl?: string | undefined
  /** API of the service. @default that of the host where it is known, otherwise data-api */
  readonly api?: string | undefined
  /** Tier of the API key: none, free, base, growth or pro. */
  readonly tier?: string | undefined
  /** Timeout of one request, such as `30s`. @default 30s */
  readonly timeout?: string | undefined
  /** Local folder for the checkpoints of outputs in object stores. @default .walletlake-state */
  readonly stateDir?: string | undefined
  /** Put `'` before CSV text that a spreadsheet would run as a formula. @default true */
  readonly escapeFormulas?: boolean | undefined
}

/** Fields whose options have another name: their properties are declared above. */
type RenamedField = 'addresses' | 'service.baseUrl' | 'service.api' | 'service.tier' | 'service.timeout'

type OverriddenField = {
  [P in FieldPath]: (typeof FIELDS)[P] extends { readonly option: unknown } ? P : never
}[FieldPath]

/** Not mapped with `as`, so that each property keeps the comment of its field. */
type OverridesOf<Paths extends keyof typeof FIELDS> = {
  readonly [P in Paths]?: OverrideValue<P> | undefined
}

type OverrideValue<P extends FieldPath> = (typeof FIELDS)[P] extends { option: { repeatable: true } }
  ? readonly string[]
  : WrittenValue<P> extends number
    ? number | string
    : WrittenValue<P> extends boolean
      ? boolean
      : string

/** The property of `JobOverrides` that an option sets: its name in camel case. */
export function overrideName({ name }: { readonly name: string }): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** The names of all overrides. */
export const OVERRIDE_NAMES: readonly string[] = [
  ...FIELD_OPTIONS.map(overrideName),
  'stateDir',
  'escapeFormulas',
]

/** The raw values of one source (command line, environment or job file) by field. */
export type ConfigSource = ReadonlyMap<FieldPath, RawValue>

/** Values from the command line. */
export function sourceOfOverrides(overrides: JobOverrides): ConfigSource {
  const given: Readonly<Record<string, GivenValue | undefined>> = overrides
  return sourceOf(({ option }) => option && [`--${option.name}`, given[overrideName(option)]])
}

/** Values from environment variables. An empty value is checked, and refused, like any other. */
export function sourceOfEnv(env: NodeJS.ProcessEnv): ConfigSource {
  return sourceOf(({ variable }) => (variable === undefined ? undefined : [variable, env[variable]]))
}

/** Defaults that are constants. */
export function sourceOfDefaults(): ConfigSource {
  return sourceOf((field) => ['default', field.default])
}

/** Values whose location is a name, such as `--chain`, instead of a position in a file. */
function sourceOf(
  givenFor: (field: Field<unknown>) => readonly [name: string, value: GivenValue | undefined] | undefined,
): ConfigSource {
  const source = new Map<FieldPath, RawValue>()
  for (const path of FIELD_PATHS) {
    const field: Field<unknown> = FIELDS[path]
    const [name = '', value] = givenFor(field) ?? []
    if (value === undefined) continue
    const location = { option: name }
    const origin = { field: path, location, keyLocation: location }
    source.set(path, { ...origin, value: contentOf(value, origin, field) })
  }
  return source
}

function contentOf(value: GivenValue, origin: RawOrigin, { fromTexts }: Field<unknown>): RawContent {
  if (typeof value === 'string') return fromTexts?.([value], origin) ?? value
  if (!isList(value)) return value
  return fromTexts?.(value, origin) ?? value.map((text) => ({ ...origin, value: text }))
}

function isList(value: GivenValue): value is readonly string[] {
  return Array.isArray(value)
}
