import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import type { ReportDiagnostic } from '../diagnostics.ts'
import {
  formatLocation,
  quoted,
  type RawContent,
  type RawValue,
  type SourceLocation,
} from '../resolve/raw-value.ts'

/** Reports diagnostics and maps offsets in the text to locations. */
export type YamlContext = {
  readonly report: ReportDiagnostic
  readonly locationAt: (offset: number) => SourceLocation
}

/** Converts the tree of the YAML parser to raw values. Reports duplicate keys and aliases of lists and mappings. */
export function composeRawValues(contents: unknown, yaml: YamlContext): RawValue {
  const anchors: Anchors = new Map()
  return composeNode(contents, { field: '', keyLocation: yaml.locationAt(0), depth: 0, anchors, yaml })
}

/** Anchored scalars so far. Aliases may only refer to scalars, which prevents exponential expansion. */
type Anchors = Map<string, Scalar>
type Scalar = Pick<RawValue, 'value' | 'sourceText' | 'isInvalid'>

type NodeContext = {
  readonly field: string
  readonly keyLocation: SourceLocation
  readonly depth: number
  readonly anchors: Anchors
  readonly yaml: YamlContext
}

/** Levels of a job below its root: list or section, entry, field of the entry. Deeper values are not composed. */
const MAX_FIELD_DEPTH = 4

function composeNode(node: unknown, context: NodeContext): RawValue {
  const offset = (node as Node | null)?.range?.[0]
  const location = offset === undefined ? context.keyLocation : context.yaml.locationAt(offset)
  const common = { field: context.field, location, keyLocation: context.keyLocation }
  if (context.depth > MAX_FIELD_DEPTH) return { ...common, value: [] }
  if (isMap(node)) return { ...common, value: composeMap(node, context) }
  if (isSeq(node)) return { ...common, value: composeList(node, context) }
  return { ...common, ...composeScalar(node, { ...context, keyLocation: location }) }
}

function composeScalar(node: unknown, context: NodeContext): Scalar {
  if (isAlias(node)) return context.anchors.get(node.source) ?? reportAlias(context)
  if (!isScalar(node)) return { value: null }
  const value = scalarValue(node.value)
  const scalar =
    typeof value === 'string' || node.source === undefined ? { value } : { value, sourceText: node.source }
  if (node.anchor !== undefined) context.anchors.set(node.anchor, scalar)
  return scalar
}

function scalarValue(value: unknown): RawContent {
  const isSupported = ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
  return isSupported ? (value as RawContent) : null
}

function reportAlias({ yaml, keyLocation, field }: NodeContext): Scalar {
  const expected = 'the value written out (an alias may repeat only a single value that stands above it)'
  yaml.report({ location: keyLocation, field: field || undefined, found: 'an alias', expected })
  return { value: null, isInvalid: true }
}

function composeList(list: YAMLSeq, context: NodeContext): readonly RawValue[] {
  return list.items.map((item, index) =>
    composeNode(item, { ...context, field: `${context.field}[${index}]`, depth: context.depth + 1 }),
  )
}

function composeMap(map: YAMLMap, context: NodeContext): ReadonlyMap<string, RawValue> {
  const entries = new Map<string, RawValue>()
  for (const pair of map.items) addEntry(entries, pair, context)
  return entries
}

function addEntry(entries: Map<string, RawValue>, { key, value }: Pair, context: NodeContext): void {
  const keyLocation = context.yaml.locationAt((key as Node | null)?.range?.[0] ?? 0)
  const name = keyName(key)
  const first = name === undefined ? undefined : entries.get(name)
  const problem = name === undefined ? NON_TEXT_KEY : first && repeatedKey(name, first)
  if (problem !== undefined) {
    context.yaml.report({ location: keyLocation, field: context.field || undefined, ...problem })
  } else if (name !== undefined) {
    const field = context.field === '' ? formatKey(name) : `${context.field}.${formatKey(name)}`
    entries.set(name, composeNode(value, { ...context, field, keyLocation, depth: context.depth + 1 }))
  }
}

const NON_TEXT_KEY = { found: 'a key that is not text', expected: "a field's name" }

function repeatedKey(name: string, { keyLocation }: RawValue) {
  return {
    found: `the key ${quoted(name)} again`,
    expected: `each key once (first at ${formatLocation(keyLocation)})`,
  }
}

function keyName(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? '')
}

function formatKey(name: string): string {
  return /^[\w$-]{1,64}$/.test(name) ? name : quoted(name)
}
