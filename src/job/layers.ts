import { against, type Complain } from './complaints.ts'
import { FIELD_PATHS, FIELDS, type FieldPath, type FieldValue } from './fields.ts'
import type { Given } from './given.ts'
import { complainOfKeys } from './keys.ts'
import { FIELD_SYNONYMS, SERVICE_SYNONYMS } from './synonyms.ts'

/** What one source gives for the fields: command line, environment or job file. */
export type Layer = ReadonlyMap<FieldPath, Given>

/** A field after its checks; `value` is undefined where it was complained of. */
type Parsed<P extends FieldPath> = { readonly given: Given; readonly value: FieldValue<P> | undefined }
export type Values = { readonly [P in FieldPath]?: Parsed<P> }

/** Checks every field of every layer; where several give a field, the first of them counts. */
export function parseLayers(layers: readonly Layer[], complain: Complain): Values {
  const counting = FIELD_PATHS.flatMap((path) => {
    const parsed = layers.flatMap((layer) => parseField(layer.get(path), path, complain))
    return parsed.slice(0, 1).map((first) => [path, first])
  })
  return Object.fromEntries(counting)
}

/** The job file's layer: its top-level fields and those of its section `service`. */
export function layerOfJob(root: Given, complain: Complain): Layer {
  const top = entriesOf(root, 'a mapping of fields, each a line "name: value"', complain)
  const meant = complainOfKeys(top, TOP_KEYS, complain)
  const service = top.get('service')
  const isBelow = service?.value === null && [...meant].some((path) => path.startsWith(SERVICE))
  const nested = service === undefined || isBelow ? NOTHING : entriesOf(service, SERVICE_EXPECTED, complain)
  const meantNested = complainOfKeys(nested, SERVICE_KEYS, complain)
  return new Map(
    FIELD_PATHS.flatMap((path) => {
      const leaf = path.startsWith(SERVICE) ? path.slice(SERVICE.length) : undefined
      const given = leaf === undefined ? top.get(path) : nested.get(leaf)
      if (given !== undefined) return [[path, given]]
      return meant.has(path) || meantNested.has(leaf ?? '') ? [[path, { ...root, isRefused: true }]] : []
    }),
  )
}

const SERVICE_EXPECTED =
  'a mapping of baseUrl, apiKeyHeader, timeout: below it, two spaces further in, each "name: value"'

function parseField<P extends FieldPath>(given: Given | undefined, path: P, complain: Complain) {
  if (given === undefined) return []
  return [{ given, value: given.isRefused ? undefined : FIELDS[path].parse(given, complain) }]
}

/** A mapping's entries. Text in its place is not shown: under `service` it may be a key. */
function entriesOf(given: Given, expected: string, complain: Complain): ReadonlyMap<string, Given> {
  if (given.value instanceof Map) return given.value
  if (given.isRefused) return NOTHING
  const complaint = against(given, expected)
  const found = given.value === null ? 'nothing' : typeof given.value === 'string' ? 'text' : complaint.found
  complain({ ...complaint, field: given.field || undefined, found })
  return NOTHING
}

const SERVICE = 'service.'
const NOTHING: ReadonlyMap<string, Given> = new Map()
const SERVICE_PATHS = FIELD_PATHS.filter((path) => path.startsWith(SERVICE))
const SERVICE_NAMES = SERVICE_PATHS.map((path) => path.slice(SERVICE.length))
const TOP_NAMES = FIELD_PATHS.filter((path) => !path.startsWith(SERVICE))
/** Editors find the schema by `$schema` in JSON jobs. */
const TOP_KEYS = {
  known: [...TOP_NAMES, 'service', '$schema'],
  meant: [...FIELD_PATHS, 'service'],
  synonyms: FIELD_SYNONYMS,
}
const SERVICE_KEYS = { known: SERVICE_NAMES, meant: SERVICE_NAMES, synonyms: SERVICE_SYNONYMS }
