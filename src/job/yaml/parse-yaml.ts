import { Composer, type CST, type Document, Lexer, LineCounter, Parser } from 'yaml'
import type { ReportDiagnostic } from '../diagnostics.ts'
import type { RawValue, SourceLocation } from '../resolve/raw-value.ts'
import { composeRawValues, type YamlContext } from './compose-raw-values.ts'
import { reportYamlError } from './yaml-errors.ts'

/**
 * Parses the YAML or JSON text of a job (JSON is a subset of YAML) into raw values with their locations. Returns undefined
 * after reporting a diagnostic.
 *
 * The text is tokenized first and composed only if its nesting is limited, because composing deep nesting would exhaust
 * the stack and crash the process. Integers of any size are exact.
 */
export function parseYaml(text: string, file: string, report: ReportDiagnostic): RawValue | undefined {
  const counter = new LineCounter()
  const yaml: YamlContext = { report, locationAt: (offset) => locationOf(counter, file, offset) }
  const [document, second] = composeText(text, counter, yaml)
  if (document === undefined) return undefined
  if (second !== undefined) return reportAt(yaml, second.range[0], ['a second document', 'one job per file'])
  if (reportYamlError(document, yaml, text)) return undefined
  return composeRawValues(document.contents, yaml)
}

/** Maximum nesting depth; a valid job has four levels. */
const MAX_DEPTH = 16
/** Maximum number of lexemes. An address with a label has about 22. Composing more would take gigabytes of memory. */
const MAX_LEXEMES = 2_500_000

function composeText(text: string, counter: LineCounter, yaml: YamlContext): readonly Document.Parsed[] {
  try {
    const tokens = tokenize(text, counter)
    const tooDeepOffset = tokens?.map(findTooDeep).find((offset) => offset !== undefined)
    if (tokens === undefined)
      reportAt(yaml, 0, ['too many entries or lines', 'a job (many wallets go into an addressesFile)'])
    else if (tooDeepOffset !== undefined)
      reportAt(yaml, tooDeepOffset, [`more than ${MAX_DEPTH} levels of nesting`, 'a job'])
    else return [...new Composer(PARSER_OPTIONS).compose(tokens, true, text.length)] as Document.Parsed[]
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown
    reportAt(yaml, 0, ['too deeply nested to read', 'a job'])
  }
  return []
}

/** Returns the nested tokens of the text, or undefined if it has too many lexemes. */
function tokenize(text: string, counter: LineCounter): CST.Token[] | undefined {
  const parser = new Parser(counter.addNewLine)
  const tokens: CST.Token[] = []
  let lexemes = 0
  counter.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    if (++lexemes > MAX_LEXEMES) return undefined
    for (const token of parser.next(lexeme)) tokens.push(token)
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

/**
 * Always uses the YAML 1.2 core schema. Duplicate keys are detected in `composeRawValues`, because the check of the parser
 * is slow.
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

function reportAt(
  yaml: YamlContext,
  offset: number,
  [found, expected]: readonly [string, string],
): undefined {
  yaml.report({ location: yaml.locationAt(offset), found, expected })
}

function locationOf(counter: LineCounter, file: string, offset: number): SourceLocation {
  const { line, col } = counter.linePos(offset)
  return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
}
