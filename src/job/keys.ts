import { nearest } from '../core/nearest.ts'
import type { Complain } from './complaints.ts'
import { type Given, quoted } from './given.ts'

/** Which keys a mapping may have, and the paths of fields that a misspelt one may mean. */
export type Keys = { readonly known: readonly string[]; readonly meant: readonly string[] }

/** Complains of keys that are not known, naming the nearest that is. The values under them are never shown. */
export function complainOfKeys(entries: ReadonlyMap<string, Given>, keys: Keys, complain: Complain): void {
  for (const [key, { keyPlace: place, field }] of entries) {
    if (keys.known.includes(key)) continue
    if (SECRET.test(key)) complain({ place, field, found: 'a key (not shown)', expected: SECRET_EXPECTED })
    else complain({ place, field, found: `the key ${quoted(key)}`, ...wanted(key, keys) })
  }
}

/** Keys under which people put what must not stand in a file that is shared. */
const SECRET =
  /^(x-)?((service|glacier|data)[-_]?)?(api[-_]?(key|token)|key|token|secret|password|authorization)$/i
const SECRET_EXPECTED =
  'no API key in a job file: set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to a file that holds it'

function wanted(key: string, { known, meant }: Keys) {
  const elsewhere = ELSEWHERE.get(key)
  if (elsewhere !== undefined) return { expected: `the option ${elsewhere} on the command line` }
  const leaves = meant.map((path) => path.slice(path.lastIndexOf('.') + 1))
  const near = nearest(key, leaves)
  const didYouMean = near === undefined ? undefined : meant[leaves.indexOf(near)]
  return { expected: `one of ${known.join(', ')}`, didYouMean }
}

/** What the command line has and a job file has not. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['escapeFormulas', '--no-escape-formulas'],
  ['maxRequests', '--max-requests'],
  ['deadline', '--deadline'],
  ['fresh', '--fresh'],
])
