import { type Document, isCollection, isScalar, type Node, visit, type YAMLError } from 'yaml'
import { contentLines, isItem, misplacedItem, misplacedKey, type YamlLine } from './indentation-hints.ts'

/** A mistake behind an error of the parser, in the form of a diagnostic. */
type YamlHint = { readonly offset: number; readonly found: string; readonly expected: string }

/**
 * Returns the common mistake behind an error of the parser, or undefined if no rule matches.
 *
 * Hints never quote the text, because it may contain a key.
 */
export function hintFor({ code, pos, message }: YAMLError, document: Document.Parsed, text: string) {
  const context = errorContext(text, { code, message, offset: pos[0], document })
  for (const rule of HINT_RULES) {
    const hint = rule(context)
    if (hint !== undefined) return hint
  }
  return undefined
}

type ErrorContext = {
  readonly code: string
  /** Message of the parser; never shown, because it quotes the text. */
  readonly message: string
  readonly offset: number
  readonly document: Document.Parsed
  readonly char: string
  readonly line: YamlLine
  /** The lines above, without blank lines and comments, and the next such line below. */
  readonly above: readonly YamlLine[]
  readonly below: YamlLine | undefined
}

function errorContext(
  text: string,
  at: Pick<ErrorContext, 'code' | 'message' | 'offset' | 'document'>,
): ErrorContext {
  const start = text.lastIndexOf('\n', at.offset - 1) + 1
  const end = text.indexOf('\n', at.offset)
  const line = { text: text.slice(start, end === -1 ? undefined : end).trimEnd(), offset: start }
  return {
    ...at,
    char: text[at.offset] ?? '',
    line,
    above: contentLines(text.slice(0, start), 0),
    below: end === -1 ? undefined : contentLines(text.slice(end + 1), end + 1)[0],
  }
}

/** Rules for common mistakes. The first match wins. */
const HINT_RULES: readonly ((context: ErrorContext) => YamlHint | undefined)[] = [
  noBreakSpace,
  ({ code, offset }) =>
    code === 'TAB_AS_INDENT' ? { offset, found: 'a tab as indentation', expected: 'spaces' } : undefined,
  ({ code, offset, char }) =>
    code === 'BAD_SCALAR_START'
      ? { offset, found: `a value that begins with ${char}`, expected: 'quotes around it' }
      : undefined,
  ({ code, offset }) =>
    code === 'BAD_DQ_ESCAPE'
      ? {
          offset,
          found: 'one \\ in double quotes',
          expected: 'two of them, or single quotes around the text',
        }
      : undefined,
  unclosedQuote,
  unclosedBracket,
  missingComma,
  misplacedItem,
  missingDash,
  missingSpace,
  misplacedKey,
  ({ code, offset, line }) =>
    code === 'BLOCK_AS_IMPLICIT_KEY' && /:\s.*:(\s|$)/.test(line.text)
      ? { offset, found: 'a second ":" in the line', expected: 'quotes around a text that has ": " in it' }
      : undefined,
  ({ offset, char }) =>
    char === ',' ? { offset, found: 'a "," after the value', expected: 'nothing there' } : undefined,
]

function noBreakSpace({ line }: ErrorContext): YamlHint | undefined {
  const column = line.text.search(/[\u00a0\u2007\u202f]/)
  if (column === -1) return undefined
  return { offset: line.offset + column, found: 'a no-break space', expected: 'a plain space' }
}

function unclosedQuote({ message, document, offset }: ErrorContext): YamlHint | undefined {
  const quote = /^Missing closing (["'])/.exec(message)?.[1]
  if (quote === undefined) return undefined
  const opened = innermostStart(document, (node) => isScalar(node) && /^QUOTE/.test(node.type ?? ''), offset)
  return { offset: opened, found: `a ${quote} that is never closed`, expected: `a ${quote} after the text` }
}

function unclosedBracket({ message, document, offset }: ErrorContext): YamlHint | undefined {
  const close = /^Flow (?:sequence|map).* end with a ([\]}])|Expected flow \w+ to end with ([\]}])/i.exec(
    message,
  )
  const bracket = close?.[1] ?? close?.[2]
  if (bracket === undefined) return undefined
  const opened = innermostStart(document, (node) => isCollection(node) && node.flow === true, offset)
  const open = bracket === ']' ? '[' : '{'
  return {
    offset: opened,
    found: `a ${open} that is never closed`,
    expected: `a ${bracket} after its last entry`,
  }
}

/** Returns the start of the innermost node that matches and contains the offset, or the offset if there is none. */
function innermostStart(
  document: Document.Parsed,
  predicate: (node: unknown) => boolean,
  offset: number,
): number {
  let start = offset
  visit(document, {
    Node: (_, node) => {
      const [from, , to] = (node as Node).range ?? [0, 0, 0]
      if (predicate(node) && from <= offset && offset <= to) start = from
    },
  })
  return start
}

function missingComma({ code, message, line, offset }: ErrorContext): YamlHint | undefined {
  if (code === 'BLOCK_IN_FLOW' && isItem(line))
    return { offset: line.offset, found: '"- " inside brackets', expected: '"- " or brackets, not both' }
  if (code !== 'BLOCK_IN_FLOW' && !/^Missing , /.test(message)) return undefined
  return { offset, found: 'two entries with nothing between', expected: 'a "," between them' }
}

/** A line contains only a value where a list item or a key is expected. */
function missingDash({ code, line }: ErrorContext): YamlHint | undefined {
  if (code !== 'BAD_INDENT' && code !== 'MISSING_CHAR') return undefined
  if (isItem(line) || /:(\s|$)/.test(line.text)) return undefined
  const offset = line.offset + line.text.search(/\S/)
  return { offset, found: 'a value without "- "', expected: '"- " before each entry of a list' }
}

function missingSpace({ line }: ErrorContext): YamlHint | undefined {
  const [match] = /^\s*(?:- +)?[\w$]+:(?=[^\s:/])/.exec(line.text) ?? []
  if (match === undefined) return undefined
  return {
    offset: line.offset + match.length - 1,
    found: '":" without a space',
    expected: 'a space after it',
  }
}
