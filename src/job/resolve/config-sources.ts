import { invalidValue, type RawValue, type ReportDiagnostic } from '../diagnostics.ts'
import type { Field } from '../fields/field-type.ts'
import { FIELD_PATHS, FIELDS } from '../fields/fields.ts'
import { SECTIONS } from '../fields/section-fields.ts'
import { type KeyRules, reportUnknownKeys, type Synonyms, synonymsFrom } from './check-keys.ts'
import type { ConfigSource } from './overrides.ts'

/** The source of a job file: its top-level fields and those of its sections. */
export function sourceOfJob(root: RawValue, report: ReportDiagnostic): ConfigSource {
  const top = entriesOf(root, 'a mapping of fields, each a line "name: value"', report)
  const suggested = reportUnknownKeys(top, TOP_KEYS, report)
  const nested = new Map(
    SECTION_RULES.map((section) => [section.name, fieldsOfSection(section, { top, suggested }, report)]),
  )
  return new Map(
    FIELD_PATHS.flatMap((path) => {
      const { section, leaf } = splitPath(path)
      const nestedFields = nested.get(section ?? '')
      const raw = section === undefined ? top.get(path) : nestedFields?.entries.get(leaf)
      if (raw !== undefined) return [[path, raw]]
      return suggested.has(path) || nestedFields?.meant.has(leaf)
        ? [[path, { ...root, isInvalid: true }]]
        : []
    }),
  )
}

type TopLevel = { top: ReadonlyMap<string, RawValue>; suggested: ReadonlySet<string> }

/** Returns the fields of a section. An empty section is not reported if its fields are at the top level by mistake. */
function fieldsOfSection(
  { name, keys, expected }: Section,
  { top, suggested }: TopLevel,
  report: ReportDiagnostic,
) {
  const raw = top.get(name)
  const isMisplaced = raw?.value === null && [...suggested].some((path) => path.startsWith(`${name}.`))
  const entries = raw === undefined || isMisplaced ? NO_ENTRIES : entriesOf(raw, expected, report)
  return { entries, meant: reportUnknownKeys(entries, keys, report) }
}

/** Splits the path of a field into its section, if it has one, and its name. */
function splitPath(path: string): { section: string | undefined; leaf: string } {
  const [first = '', leaf] = path.split('.')
  return leaf === undefined ? { section: undefined, leaf: first } : { section: first, leaf }
}

/** Returns the entries of a mapping. Text in its place is not shown, because under `service` it may be a key. */
function entriesOf(raw: RawValue, expected: string, report: ReportDiagnostic): ReadonlyMap<string, RawValue> {
  if (raw.value instanceof Map) return raw.value
  if (raw.isInvalid) return NO_ENTRIES
  const diagnostic = invalidValue(raw, expected)
  const found = raw.value === null ? 'nothing' : typeof raw.value === 'string' ? 'text' : diagnostic.found
  report({ ...diagnostic, field: raw.field || undefined, found })
  return NO_ENTRIES
}

type Section = { name: string; keys: KeyRules; expected: string }

const NO_ENTRIES: ReadonlyMap<string, RawValue> = new Map()

function describeSection(name: string): Section {
  const names = FIELD_PATHS.map(splitPath)
    .filter(({ section }) => section === name)
    .map(({ leaf }) => leaf)
  return {
    name,
    keys: { names, suggestable: names, synonyms: synonymsUnder(`${name}.`) },
    expected: `a mapping of ${names.join(', ')}: below it, two spaces further in, each "name: value"`,
  }
}

/** Returns the synonyms of the fields whose paths start with a prefix. The prefix is removed from their paths. */
function synonymsUnder(prefix: string): Synonyms {
  const named = Object.entries<Pick<Field<unknown>, 'synonyms' | 'description'>>({ ...FIELDS, ...SECTIONS })
  return synonymsFrom(
    named.flatMap(([path, { synonyms }]) =>
      path.startsWith(prefix) && synonyms !== undefined ? [[path.slice(prefix.length), synonyms]] : [],
    ),
  )
}

const SECTION_NAMES = Object.keys(SECTIONS)
const SECTION_RULES = SECTION_NAMES.map(describeSection)
const TOP_NAMES = FIELD_PATHS.filter((path) => splitPath(path).section === undefined)
/** `$schema` is allowed because editors use it to find the schema of JSON jobs. */
const TOP_KEYS = {
  names: [...TOP_NAMES, ...SECTION_NAMES, '$schema'],
  suggestable: [...FIELD_PATHS, ...SECTION_NAMES],
  synonyms: synonymsUnder(''),
}
