import { normalizeWord, suggest } from '../../core/model/suggest.ts'
import { quoted, type RawValue, type ReportDiagnostic } from '../diagnostics.ts'

/** Maps other words that people use for a field to its path. Words are in lower case, without `-` and `_`. */
export type Synonyms = ReadonlyMap<string, string>

/** Builds the map from fields with their synonyms, which are separated by spaces. */
export function synonymsFrom(fields: readonly (readonly [path: string, words: string])[]): Synonyms {
  return new Map(fields.flatMap(([path, words]) => words.split(' ').map((word) => [word, path] as const)))
}

/** The keys that a mapping may have, and the paths of the fields that are suggested for a misspelled one. */
export type KeyRules = {
  readonly names: readonly string[]
  readonly suggestable: readonly string[]
  readonly synonyms: Synonyms
}

/**
 * Reports unknown keys, with the closest known field as a suggestion. Returns the paths of the suggested fields. The
 * values of unknown keys are never shown.
 */
export function reportUnknownKeys(
  entries: ReadonlyMap<string, RawValue>,
  keys: KeyRules,
  report: ReportDiagnostic,
): ReadonlySet<string> {
  const suggested = new Set<string>()
  for (const [key, { keyLocation: location, field }] of entries) {
    if (keys.names.includes(key)) continue
    if (SECRET_KEY.test(key))
      report({ location, field, found: 'a key (not shown)', expected: SECRET_EXPECTED })
    else {
      const path = suggestField(key, keys)
      if (path !== undefined) suggested.add(path)
      report({ location, field, found: `the key ${quoted(key)}`, ...expectationFor(key, keys.names, path) })
    }
  }
  return suggested
}

/** Keys whose values are probably secrets, which must not be in a job file. */
const SECRET_KEY =
  /^(x-)?((service|glacier|data)[-_]?)?(api[-_]?(key|token)|key|token|secret|password|authorization|private[-_]?key|mnemonic)$/i
const SECRET_EXPECTED =
  'no API key in a job file: set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to a file that holds it'

/** Returns the path of the field that an unknown key probably means: a field elsewhere, a synonym or a misspelling. */
function suggestField(key: string, { suggestable, synonyms }: KeyRules): string | undefined {
  if (suggestable.includes(key)) return key
  if (CLI_ONLY_OPTIONS.has(normalizeWord(key))) return undefined
  const names = suggestable.map((path) => path.slice(path.lastIndexOf('.') + 1))
  const closest = suggest(key, names)
  return synonyms.get(normalizeWord(key)) ?? (closest && suggestable[names.indexOf(closest)])
}

function expectationFor(key: string, names: readonly string[], path: string | undefined) {
  const option = CLI_ONLY_OPTIONS.get(normalizeWord(key))
  if (option !== undefined) return { expected: `the option ${option} on the command line` }
  if (key.startsWith('//')) return { expected: '# before a comment' }
  const didYouMean = path === key ? undefined : path
  const [section, leaf] = path?.split('.') ?? []
  if (leaf !== undefined) return { expected: `${leaf} below ${section}, two spaces further in`, didYouMean }
  if (names.length <= MAX_LISTED_NAMES) return { expected: `one of ${names.join(', ')}`, didYouMean }
  const note =
    path === undefined
      ? `The fields are ${names.filter((name) => name !== '$schema').join(', ')}.`
      : undefined
  return { expected: "a field's name", didYouMean, note }
}

/** Up to this number of known names, a message lists all of them. */
const MAX_LISTED_NAMES = 8

/** Options that exist only on the command line, by words that people use for them in a job file. */
const CLI_ONLY_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['escapeformulas', '--no-escape-formulas'],
  ['maxrequests', '--max-requests'],
  ['deadline', '--deadline'],
  ['fresh', '--fresh'],
  ['lookback', '--lookback'],
  ['lookbackblocks', '--lookback'],
  ['reread', '--lookback'],
  ['reorgdepth', '--lookback'],
])
