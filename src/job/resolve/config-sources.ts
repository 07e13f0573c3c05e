import { against, type Complain } from '../diagnostics.ts'
import { FIELD_PATHS, FIELDS, type FieldPath, type FieldValue } from '../fields/fields.ts'
import { FIELD_SYNONYMS, SERVICE_SYNONYMS, type Synonyms } from '../synonyms.ts'
import { complainOfKeys, type Keys } from './check-keys.ts'
import type { Given } from './raw-value.ts'

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

/** The job file's layer: its top-level fields and those of its sections. */
export function layerOfJob(root: Given, complain: Complain): Layer {
  const top = entriesOf(root, 'a mapping of fields, each a line "name: value"', complain)
  const meant = complainOfKeys(top, TOP_KEYS, complain)
  const nested = new Map(
    SECTIONS.map((section) => [section.name, fieldsOfSection(section, { top, meant }, complain)]),
  )
  return new Map(
    FIELD_PATHS.flatMap((path) => {
      const { section, leaf } = splitPath(path)
      const below = nested.get(section ?? '')
      const given = section === undefined ? top.get(path) : below?.entries.get(leaf)
      if (given !== undefined) return [[path, given]]
      return meant.has(path) || below?.meant.has(leaf) ? [[path, { ...root, isRefused: true }]] : []
    }),
  )
}

type Top = { top: ReadonlyMap<string, Given>; meant: ReadonlySet<string> }

/** What stands below a section; nothing is complained of where its fields were put beside it by mistake. */
function fieldsOfSection({ name, keys, expected }: Section, { top, meant }: Top, complain: Complain) {
  const given = top.get(name)
  const isBeside = given?.value === null && [...meant].some((path) => path.startsWith(`${name}.`))
  const entries = given === undefined || isBeside ? NOTHING : entriesOf(given, expected, complain)
  return { entries, meant: complainOfKeys(entries, keys, complain) }
}

/** The section of a field, if it stands in one, and its name there. */
function splitPath(path: string): { section: string | undefined; leaf: string } {
  const [first = '', leaf] = path.split('.')
  return leaf === undefined ? { section: undefined, leaf: first } : { section: first, leaf }
}

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

type Section = { name: string; keys: Keys; expected: string }

const NOTHING: ReadonlyMap<string, Given> = new Map()

function sectionOf(name: string, synonyms: Synonyms): Section {
  const names = FIELD_PATHS.map(splitPath)
    .filter(({ section }) => section === name)
    .map(({ leaf }) => leaf)
  return {
    name,
    keys: { known: names, meant: names, synonyms },
    expected: `a mapping of ${names.join(', ')}: below it, two spaces further in, each "name: value"`,
  }
}

const SECTIONS = [sectionOf('service', SERVICE_SYNONYMS), sectionOf('store', new Map())]
const SECTION_NAMES = SECTIONS.map(({ name }) => name)
const TOP_NAMES = FIELD_PATHS.filter((path) => splitPath(path).section === undefined)
/** Editors find the schema by `$schema` in JSON jobs. */
const TOP_KEYS = {
  known: [...TOP_NAMES, ...SECTION_NAMES, '$schema'],
  meant: [...FIELD_PATHS, ...SECTION_NAMES],
  synonyms: FIELD_SYNONYMS,
}
