import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Complain } from '../diagnostics.ts'
import { type Given, type GivenValue, type Place, quoted, showPlace } from '../resolve/raw-value.ts'

/** What composing needs to know of the text: where an offset is, and whom to tell. */
export type Source = { readonly complain: Complain; readonly place: (offset: number) => Place }

/** The parser's tree as ours; duplicate keys and aliases of lists and mappings are complained of. */
export function composeGiven(contents: unknown, source: Source): Given {
  const anchors: Anchors = new Map()
  return composeNode(contents, { field: '', keyPlace: source.place(0), depth: 0, anchors, source })
}

/** Anchored scalars so far. An alias may repeat a scalar only, so no text grows by being repeated. */
type Anchors = Map<string, Scalar>
type Scalar = Pick<Given, 'value' | 'source' | 'isRefused'>

type Here = {
  readonly field: string
  readonly keyPlace: Place
  readonly depth: number
  readonly anchors: Anchors
  readonly source: Source
}

/** Levels of a job below its root: list or section, entry, field of the entry. What is deeper is wrong anyway. */
const DEEPEST_FIELD = 4

function composeNode(node: unknown, here: Here): Given {
  const offset = (node as Node | null)?.range?.[0]
  const place = offset === undefined ? here.keyPlace : here.source.place(offset)
  const at = { field: here.field, place, keyPlace: here.keyPlace }
  if (here.depth > DEEPEST_FIELD) return { ...at, value: [] }
  if (isMap(node)) return { ...at, value: composeMap(node, here) }
  if (isSeq(node)) return { ...at, value: composeList(node, here) }
  return { ...at, ...composeScalar(node, { ...here, keyPlace: place }) }
}

function composeScalar(node: unknown, here: Here): Scalar {
  if (isAlias(node)) return here.anchors.get(node.source) ?? refuseAlias(here)
  if (!isScalar(node)) return { value: null }
  const value = scalarValue(node.value)
  const scalar =
    typeof value === 'string' || node.source === undefined ? { value } : { value, source: node.source }
  if (node.anchor !== undefined) here.anchors.set(node.anchor, scalar)
  return scalar
}

function scalarValue(value: unknown): GivenValue {
  const known = ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
  return known ? (value as GivenValue) : null
}

function refuseAlias({ source, keyPlace, field }: Here): Scalar {
  const expected = 'the value written out (an alias may repeat only a single value that stands above it)'
  source.complain({ place: keyPlace, field: field || undefined, found: 'an alias', expected })
  return { value: null, isRefused: true }
}

function composeList(list: YAMLSeq, here: Here): readonly Given[] {
  return list.items.map((item, index) =>
    composeNode(item, { ...here, field: `${here.field}[${index}]`, depth: here.depth + 1 }),
  )
}

function composeMap(map: YAMLMap, here: Here): ReadonlyMap<string, Given> {
  const entries = new Map<string, Given>()
  for (const pair of map.items) addEntry(entries, pair, here)
  return entries
}

function addEntry(entries: Map<string, Given>, { key, value }: Pair, here: Here): void {
  const keyPlace = here.source.place((key as Node | null)?.range?.[0] ?? 0)
  const name = keyName(key)
  const first = name === undefined ? undefined : entries.get(name)
  const refusal = name === undefined ? NOT_TEXT : first && repeated(name, first)
  if (refusal !== undefined) {
    here.source.complain({ place: keyPlace, field: here.field || undefined, ...refusal })
  } else if (name !== undefined) {
    const field = here.field === '' ? showKey(name) : `${here.field}.${showKey(name)}`
    entries.set(name, composeNode(value, { ...here, field, keyPlace, depth: here.depth + 1 }))
  }
}

const NOT_TEXT = { found: 'a key that is not text', expected: "a field's name" }

function repeated(name: string, { keyPlace }: Given) {
  return {
    found: `the key ${quoted(name)} again`,
    expected: `each key once (first at ${showPlace(keyPlace)})`,
  }
}

function keyName(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? '')
}

function showKey(name: string): string {
  return /^[\w$-]{1,64}$/.test(name) ? name : quoted(name)
}
