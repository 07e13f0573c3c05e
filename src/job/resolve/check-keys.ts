import { normalizeWord, suggest } from '../../core/model/suggest.ts'
import type { ReportDiagnostic } from '../diagnostics.ts'
import { quoted, type RawValue } from './raw-value.ts'

/** Path of a field by a word that people use for it: lower case, without `-` and `_`. */
export type Synonyms = ReadonlyMap<string, string>

/** Synonyms from fields with their words, separated by spaces. */
export function synonymsFrom(fields: readonly (readonly [path: string, words: string])[]): Synonyms {
  return new Map(fields.flatMap(([path, words]) => words.split(' ').map((word) => [word, path] as const)))
}

/** Which keys a mapping may have, and the paths of fields that a misspelt one may mean. */
export type KeyRules = {
  readonly known: readonly string[]
  readonly suggestable: readonly string[]
  readonly synonyms: Synonyms
}

/**
 * Complains of keys that are not known, naming the nearest that is; gives the paths of those that were meant. The
 * values under them are never shown.
 */
export function reportUnknownKeys(
  entries: ReadonlyMap<string, RawValue>,
  keys: KeyRules,
  report: ReportDiagnostic,
): ReadonlySet<string> {
  const suggested = new Set<string>()
  for (const [key, { keyLocation: location, field }] of entries) {
    if (keys.known.includes(key)) continue
    if (SECRET_KEY.test(key))
      report({ location, field, found: 'a key (not shown)', expected: SECRET_EXPECTED })
    else {
      const path = suggestField(key, keys)
      if (path !== undefined) suggested.add(path)
      report({ location, field, found: `the key ${quoted(key)}`, ...expectationFor(key, keys.known, path) })
    }
  }
  return suggested
}

/** Keys under which people put what must not stand in a file that is shared. */
const SECRET_KEY =
  /^(x-)?((service|glacier|data)[-_]?)?(api[-_]?(key|token)|key|token|secret|password|authorization|private[-_]?key|mnemonic)$/i
const SECRET_EXPECTED =
  'no API key in a job file: set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to a file that holds it'

/** The path of the field that an unknown key most likely means: itself, by another word, or misspelt. */
function suggestField(key: string, { suggestable, synonyms }: KeyRules): string | undefined {
  if (suggestable.includes(key)) return key
  if (CLI_ONLY_OPTIONS.has(normalizeWord(key))) return undefined
  const names = suggestable.map((path) => path.slice(path.lastIndexOf('.') + 1))
  const closest = suggest(key, names)
  return synonyms.get(normalizeWord(key)) ?? (closest && suggestable[names.indexOf(closest)])
}

function expectationFor(key: string, known: readonly string[], path: string | undefined) {
  const option = CLI_ONLY_OPTIONS.get(normalizeWord(key))
  if (option !== undefined) return { expected: `the option ${option} on the command line` }
  if (key.startsWith('//')) return { expected: '# before a comment' }
  const didYouMean = path === key ? undefined : path
  const [section, leaf] = path?.split('.') ?? []
  if (leaf !== undefined) return { expected: `${leaf} below ${section}, two spaces further in`, didYouMean }
  if (known.length <= MAX_LISTED_NAMES) return { expected: `one of ${known.join(', ')}`, didYouMean }
  const note =
    path === undefined
      ? `The fields are ${known.filter((name) => name !== '$schema').join(', ')}.`
      : undefined
  return { expected: "a field's name", didYouMean, note }
}

/** So many names are told at once. */
const MAX_LISTED_NAMES = 4

/** What the command line has and a job file has not. */
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
