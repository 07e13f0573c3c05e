import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
} from 'yaml'
import {
  formatLocation,
  quoted,
  type RawContent,
  type RawValue,
  type ReportDiagnostic,
  type SourceLocation,
} from '../diagnostics.ts'
import { describeErrors } from './yaml-errors.ts'

/**
 * Parses the YAML or JSON text of a job (JSON is a subset of YAML) into raw values with their locations. Returns undefined
 * after reporting a diagnostic.
 *
 * The text is tokenized first and composed only if its nesting is limited, because composing deep nesting would exhaust
 * the stack and crash the process. Integers of any size are exact.
 */
export function parseYaml(text: string, file: string, report: ReportDiagnostic): RawValue | undefined {
  const counter = new LineCounter()
  counter.addNewLine(0)
  // The parser does not report every line break of a broken text to the counter.
  for (const { index } of text.matchAll(/\n/g)) counter.addNewLine(index + 1)
  const locationAt = (offset: number) => {
    const { line, col } = counter.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const reportAt = (offset: number, found: string, expected: string): undefined => {
    report({ location: locationAt(offset), found, expected })
  }
  try {
    const tokens = tokenize(text)
    if (tokens === undefined)
      return reportAt(0, 'too many entries or lines', 'a job (many wallets go into an addressesFile)')
    const tooDeep = tokens.map(findTooDeep).find((offset) => offset !== undefined)
    if (tooDeep !== undefined) return reportAt(tooDeep, `more than ${MAX_DEPTH} levels of nesting`, 'a job')
    const [document, second] = new Composer(PARSER_OPTIONS).compose(tokens, true, text.length)
    if (second?.range) return reportAt(second.range[0], 'a second document', 'one job per file')
    const errors = describeErrors(document as Document.Parsed, text)
    for (const { offset, found, expected } of errors) reportAt(offset, found, expected)
    if (errors.length > 0) return undefined
    const composing = { report, locationAt, anchors: new Map() }
    return composeNode(document?.contents, { field: '', keyLocation: locationAt(0), depth: 0 }, composing)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return reportAt(0, 'too deeply nested to read', 'a job')
  }
}

/** Maximum nesting depth; a valid job has four levels. */
const MAX_DEPTH = 16
/** Maximum number of lexemes. An address with a label has about 22. Composing more would take gigabytes of memory. */
const MAX_LEXEMES = 2_500_000

/** Returns the nested tokens of the text, or undefined if it has too many lexemes. */
function tokenize(text: string): CST.Token[] | undefined {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let lexemes = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++lexemes > MAX_LEXEMES) return undefined
    for (const token of parser.next(lexeme)) tokens.push(token)
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

/**
 * Always uses the YAML 1.2 core schema. Duplicate keys are detected in `addEntry`, because the check of the parser is slow.
 */
const PARSER_OPTIONS = {
  schema: 'core',
  intAsBigInt: true,
  uniqueKeys: false,
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const

/** Returns the offset of a token below the maximum depth, or undefined. Not recursive, so it cannot exhaust the stack. */
function findTooDeep(root: CST.Token): number | undefined {
  const stack: { token: CST.Token; depth: number }[] = [{ token: root, depth: 0 }]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { token, depth } = top
    if (depth > MAX_DEPTH) return token.offset
    if (token.type === 'document' && token.value) stack.push({ token: token.value, depth })
    for (const { key, value } of 'items' in token ? token.items : []) {
      if (key) stack.push({ token: key, depth: depth + 1 })
      if (value) stack.push({ token: value, depth: depth + 1 })
    }
  }
  return undefined
}

type Scalar = Pick<RawValue, 'value' | 'sourceText' | 'isInvalid'>
type Composing = {
  readonly report: ReportDiagnostic
  readonly locationAt: (offset: number) => SourceLocation
  /** Anchored scalars so far. Aliases may only refer to scalars, which prevents exponential expansion. */
  readonly anchors: Map<string, Scalar>
}
type Place = { readonly field: string; readonly keyLocation: SourceLocation; readonly depth: number }

/** Levels of a job below its root: list or section, entry, field of the entry. Deeper values are not composed. */
const MAX_FIELD_DEPTH = 4

/** Converts a node of the YAML parser to a raw value. Reports duplicate keys and aliases of lists and mappings. */
function composeNode(node: unknown, place: Place, composing: Composing): RawValue {
  const { field, keyLocation, depth } = place
  const offset = (node as Node | null | undefined)?.range?.[0]
  const location = offset === undefined ? keyLocation : composing.locationAt(offset)
  const origin = { field, location, keyLocation }
  if (depth > MAX_FIELD_DEPTH) return { ...origin, value: [] }
  if (isSeq(node)) {
    const items = node.items.map((item, index) =>
      composeNode(item, { field: `${field}[${index}]`, keyLocation, depth: depth + 1 }, composing),
    )
    return { ...origin, value: items }
  }
  if (isMap(node)) {
    const entries = new Map<string, RawValue>()
    for (const pair of node.items) addEntry(entries, pair, place, composing)
    return { ...origin, value: entries }
  }
  if (!isAlias(node)) return { ...origin, ...composeScalar(node, composing) }
  const scalar = composing.anchors.get(node.source)
  if (scalar !== undefined) return { ...origin, ...scalar }
  const expected = 'the value written out (an alias may repeat only a single value that stands above it)'
  composing.report({ location, field: field || undefined, found: 'an alias', expected })
  return { ...origin, value: null, isInvalid: true }
}

function composeScalar(node: unknown, { anchors }: Composing): Scalar {
  if (!isScalar(node)) return { value: null }
  const isSupported = ['string', 'number', 'bigint', 'boolean'].includes(typeof node.value)
  const value = isSupported ? (node.value as RawContent) : null
  const scalar =
    typeof value === 'string' || node.source === undefined ? { value } : { value, sourceText: node.source }
  if (node.anchor !== undefined) anchors.set(node.anchor, scalar)
  return scalar
}

function addEntry(
  entries: Map<string, RawValue>,
  { key, value }: Pair,
  { field, depth }: Place,
  composing: Composing,
): void {
  const keyLocation = composing.locationAt((key as Node | null)?.range?.[0] ?? 0)
  const name = isScalar(key) ? (typeof key.value === 'string' ? key.value : (key.source ?? '')) : undefined
  const first = entries.get(name ?? '')
  if (name !== undefined && first === undefined) {
    const path = [field, /^[\w$-]{1,64}$/.test(name) ? name : quoted(name)].filter(Boolean).join('.')
    entries.set(name, composeNode(value, { field: path, keyLocation, depth: depth + 1 }, composing))
    return
  }
  const problem =
    name === undefined || first === undefined
      ? { found: 'a key that is not text', expected: "a field's name" }
      : {
          found: `the key ${quoted(name)} again`,
          expected: `each key once (first at ${formatLocation(first.keyLocation)})`,
        }
  composing.report({ location: keyLocation, field: field || undefined, ...problem })
}
