import { bare, nearest } from '../../core/model/suggest.ts'
import type { Complain } from '../diagnostics.ts'
import type { Synonyms } from '../synonyms.ts'
import { type Given, quoted } from './raw-value.ts'

/** Which keys a mapping may have, and the paths of fields that a misspelt one may mean. */
export type Keys = {
  readonly known: readonly string[]
  readonly meant: readonly string[]
  readonly synonyms: Synonyms
}

/**
 * Complains of keys that are not known, naming the nearest that is; gives the paths of those that were meant. The
 * values under them are never shown.
 */
export function complainOfKeys(
  entries: ReadonlyMap<string, Given>,
  keys: Keys,
  complain: Complain,
): ReadonlySet<string> {
  const meant = new Set<string>()
  for (const [key, { keyPlace: place, field }] of entries) {
    if (keys.known.includes(key)) continue
    if (SECRET.test(key)) complain({ place, field, found: 'a key (not shown)', expected: SECRET_EXPECTED })
    else {
      const path = meantBy(key, keys)
      if (path !== undefined) meant.add(path)
      complain({ place, field, found: `the key ${quoted(key)}`, ...wanted(key, keys.known, path) })
    }
  }
  return meant
}

/** Keys under which people put what must not stand in a file that is shared. */
const SECRET =
  /^(x-)?((service|glacier|data)[-_]?)?(api[-_]?(key|token)|key|token|secret|password|authorization|private[-_]?key|mnemonic)$/i
const SECRET_EXPECTED =
  'no API key in a job file: set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to a file that holds it'

/** The path of the field that an unknown key most likely means: itself, by another word, or misspelt. */
function meantBy(key: string, { meant, synonyms }: Keys): string | undefined {
  if (meant.includes(key)) return key
  if (ELSEWHERE.has(bare(key))) return undefined
  const leaves = meant.map((path) => path.slice(path.lastIndexOf('.') + 1))
  const near = nearest(key, leaves)
  return synonyms.get(bare(key)) ?? (near && meant[leaves.indexOf(near)])
}

function wanted(key: string, known: readonly string[], path: string | undefined) {
  const elsewhere = ELSEWHERE.get(bare(key))
  if (elsewhere !== undefined) return { expected: `the option ${elsewhere} on the command line` }
  if (key.startsWith('//')) return { expected: '# before a comment' }
  const didYouMean = path === key ? undefined : path
  const [section, leaf] = path?.split('.') ?? []
  if (leaf !== undefined) return { expected: `${leaf} below ${section}, two spaces further in`, didYouMean }
  if (known.length <= FEW) return { expected: `one of ${known.join(', ')}`, didYouMean }
  const note =
    path === undefined
      ? `The fields are ${known.filter((name) => name !== '$schema').join(', ')}.`
      : undefined
  return { expected: "a field's name", didYouMean, note }
}

/** So many names are told at once. */
const FEW = 4

/** What the command line has and a job file has not. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['escapeformulas', '--no-escape-formulas'],
  ['maxrequests', '--max-requests'],
  ['deadline', '--deadline'],
  ['fresh', '--fresh'],
  ['lookback', '--lookback'],
  ['lookbackblocks', '--lookback'],
  ['reread', '--lookback'],
  ['reorgdepth', '--lookback'],
])
